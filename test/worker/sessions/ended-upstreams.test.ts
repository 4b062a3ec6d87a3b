/** A client's session ends: its sessions at servers are ended too. */
import { expect, it } from 'vitest';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { createSessions, type SessionDeps } from '../../../src/sessions/create-sessions.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';

it('[UP-2] [MCP-12] a server that wants an account which is gone keeps no other session open', async () => {
  const session = { sessionId: 'u', protocolVersion: '2025-11-25', credentialKey: 'k' };
  const ids = ['first', 'second'];
  const ended: string[] = [];
  const deps = {
    clients: {
      getByName: () => ({ end: async () => ids.map(serverId => ({ serverId, session })) }),
    },
    endpoints: {
      of(server: Server) {
        if (server.id === 'first') throw new PorticoError('account_required');
        const fetch = async (_url: string, { method }: RequestInit) => {
          ended.push(`${method} ${server.id}`);
          return new Response();
        };
        return { serverId: server.id, url: 'https://s.example.com/mcp', headers: {}, fetch };
      },
    },
    config: { maxAnswerBytes: 1e6, mode: 'local' },
  };
  const sessions = createSessions(deps as unknown as SessionDeps);
  const servers = ids.map(id => ({ id }) as Server);
  await sessions.endUpstreams('session:a', { servers });
  expect(ended).toEqual(['DELETE second']);
});
