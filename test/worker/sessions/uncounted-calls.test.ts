/** Calls whose session has a notification stream that cannot be opened: nothing shows whether their tool is quiet. */
import { expect, it } from 'vitest';
import { sendFrame } from '../../../src/sessions/stream-frames.ts';
import { UpstreamSessions } from '../../../src/sessions/upstream-sessions.ts';
import type { CallContext } from '../../../src/upstream/protocol/call.ts';
import type { UpstreamEndpoint } from '../../../src/upstream/endpoint.ts';
import type { StreamState } from '../../../src/upstream/streams/stream-reader.ts';

const SESSION = { sessionId: 'u', protocolVersion: '2025-11-25', credentialKey: 'k' };
const ENDPOINT = { serverId: 's', credentialKey: 'k' } as UpstreamEndpoint;
const NEEDS = { what: 'tools/call t', progressToken: () => undefined, wantsLogs: false };

it('[MCP-5] [UP-2] do not let later calls of the tool leave before the stream is open', async () => {
  let state: StreamState = 'closed';
  let listeners = 0;
  const object = {
    acquire: async () => ({ session: SESSION }),
    async fetch() {
      listeners += 1;
      const { 0: worker, 1: stream } = new WebSocketPair();
      stream.accept();
      stream.addEventListener('message', () =>
        sendFrame(stream, { id: '', text: JSON.stringify({ kind: 'opened', state }) }),
      );
      return new Response(null, { status: 101, webSocket: worker });
    },
  };
  const copies = { open: async () => undefined, keep: async () => {} };
  const settings = { maxAnswerBytes: 1_000, mode: 'local' } as const;
  const sessions = new UpstreamSessions(
    { getByName: () => object } as never,
    copies as never,
    settings,
  );
  const context = {
    owner: () => 'session:a',
    capabilities: { elicitation: {} },
    questions: 'ask',
    waitUntil: () => {},
  } as unknown as CallContext;
  for (let n = 0; n < 6; n += 1) {
    expect((await sessions.acquire(context, ENDPOINT, NEEDS)).listener).toBeUndefined();
  }
  state = 'open';
  const { listener } = await sessions.acquire(context, ENDPOINT, NEEDS);
  expect(listeners).toBe(7);
  listener?.close();
});
