/**
 * Creates the Worker's side of sessions: access to the objects that keep a client's sessions at servers, its open streams and its waiting
 * calls.
 */
import { endSession } from '../upstream/session/end-session.ts';
import type { UpstreamEndpoints } from '../upstream/endpoint.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { ObjectsByName } from '../shared/util/objects-by-name.ts';
import { Cancellations } from './cancellations.ts';
import type { ClientObject, ResourceMonitor } from './client-object.ts';
import { SessionCopies } from './session-copies.ts';
import { Streams } from './streams.ts';
import { UpstreamSessions, type SessionSettings } from './upstream-sessions.ts';

export interface SessionDeps {
  db: D1Database;
  keys: KeyRing;
  clients: ObjectsByName<ClientObject>;
  servers: ObjectsByName<ResourceMonitor>;
  endpoints: UpstreamEndpoints;
  config: SessionSettings;
}

export function createSessions({ db, keys, clients, servers, endpoints, config }: SessionDeps) {
  const copies = new SessionCopies(db, keys);
  const upstreamSessions = new UpstreamSessions(clients, copies, config);
  return {
    upstreamSessions,
    cancellations: new Cancellations(clients),
    streams: new Streams(clients, servers, endpoints, config.maxAnswerBytes),
    /** Ends an owner's sessions at those upstreams that are in the registry. One that cannot be reached keeps no other from it. */
    async endUpstreams(owner: string, registry: { servers: readonly Server[] }): Promise<void> {
      const ended = await upstreamSessions.end(owner);
      const ending = ended.map(async ({ serverId, session }) => {
        const server = registry.servers.find(({ id }) => id === serverId);
        if (server) await endSession(await endpoints.of(server), session);
      });
      await Promise.allSettled(ending);
    },
  };
}
