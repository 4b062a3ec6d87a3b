/** A body that a connector sends, which may be longer than the length that it names. */
import { expect, it } from 'vitest';
import { BodyTooLarge, readText } from '../../../src/http/read-text.ts';
import { createConnectorFetch } from '../../../src/upstream/connector/connector-fetch.ts';
import { toFrame, toJsonFrame } from '../../../src/upstream/connector/frames.ts';

const CHUNK = new TextEncoder().encode('x'.repeat(1_000));

/** Opens a channel to a connector that answers with a body of this many bytes. */
function channelTo(thousands: number): WebSocket {
  const { 0: gateway, 1: connector } = new WebSocketPair();
  connector.accept();
  const answer = () => {
    connector.send(toJsonFrame('head', 1, { status: 200, headers: { 'content-length': '2' } }));
    for (let i = 0; i < thousands; i += 1) connector.send(toFrame('data', 1, CHUNK));
    connector.send(toFrame('end', 1));
  };
  connector.addEventListener('message', answer, { once: true });
  return gateway;
}

async function read(thousands: number, maxBytes: number): Promise<string> {
  const fetch = createConnectorFetch(async () => channelTo(thousands))('connector', 'server');
  const response = await fetch('https://s.example.com', {
    method: 'POST',
    signal: AbortSignal.timeout(5_000),
  });
  return readText(response, response.headers, maxBytes);
}

it('[CLI-1] [SEC-4] is bounded whatever length its machine names', async () => {
  await expect(read(50, 10_000)).rejects.toBeInstanceOf(BodyTooLarge);
  expect(await read(3, 10_000)).toHaveLength(3_000);
});
