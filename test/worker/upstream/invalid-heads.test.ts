/** The beginning of a response that a connector sends, where no response can have it. */
import { describe, expect, it } from 'vitest';
import { createConnectorFetch } from '../../../src/upstream/connector/connector-fetch.ts';
import { toJsonFrame, type Payload } from '../../../src/upstream/connector/frames.ts';

/** Opens a channel to a connector that answers the first frame of a request with this head. */
function channelTo(head: Payload<'head'>): WebSocket {
  const { 0: gateway, 1: connector } = new WebSocketPair();
  connector.accept();
  const answer = () => connector.send(toJsonFrame('head', 1, head));
  connector.addEventListener('message', answer, { once: true });
  return gateway;
}

describe('[CLI-1] a call fails at once, and says why, if its connector sends an invalid', () => {
  it.each<[string, Payload<'head'>]>([
    ['name of a header', { status: 200, headers: { 'no name': 'v' } }],
    ['value of a header', { status: 200, headers: { name: 'a\nb' } }],
    ['status', { status: 99, headers: {} }],
  ])('%s', async (_what, head) => {
    const fetch = createConnectorFetch(async () => channelTo(head))('connector', 'server');
    const call = fetch('https://s.example.com', {
      method: 'POST',
      signal: AbortSignal.timeout(2_000),
    });
    await expect(call).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: 'The answer of its connector is not valid',
    });
  });
});
