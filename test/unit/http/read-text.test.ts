/** What becomes of a body that is too large to be read. */
import { expect, it } from 'vitest';
import { BodyTooLarge, readText } from '../../../src/http/read-text.ts';

it('[MCP-6] a response that declares too large a body is dropped, so that its connection is free', async () => {
  let isDropped = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (isDropped = true) });
  const response = new Response(body, { headers: { 'content-length': '11' } });
  await expect(readText(response, response.headers, 10)).rejects.toThrow(BodyTooLarge);
  expect(isDropped).toBe(true);
});
