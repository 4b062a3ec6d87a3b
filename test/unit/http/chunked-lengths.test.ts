/** Texts that come in chunks and name a length besides: the runtime reads all chunks, so the length bounds nothing. */
import { expect, it } from 'vitest';
import { BodyTooLarge, readText } from '../../../src/http/read-text.ts';

const read = (bytes: number, headers: Record<string, string>) => {
  const response = new Response('x'.repeat(bytes), { headers });
  return readText(response, response.headers, 1_000);
};

it('[SEC-4] such a text is bounded by what comes', async () => {
  const both = { 'content-length': '2', 'transfer-encoding': 'chunked' };
  await expect(read(50_000, both)).rejects.toBeInstanceOf(BodyTooLarge);
  expect(await read(900, both)).toHaveLength(900);
});

it('[SEC-4] a text of a named length is not read if that is too large', async () => {
  await expect(read(10, { 'content-length': '1001' })).rejects.toBeInstanceOf(BodyTooLarge);
});
