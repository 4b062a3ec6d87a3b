/** Finds the address that a person is to open in the output of a command that signs in by itself. */

import type { Stream } from 'node:stream';

/**
 * Returns the first address of the gateway's `/authorize` in a stream, which is read to its end.
 * @throws Error with the whole output if the stream ends without an address
 */
export function askedAddress(stream: Stream, origin: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  stream.on('data', chunk => {
    text += String(chunk);
    const from = text.indexOf(`${origin}/authorize?`);
    const rest = from < 0 ? '' : text.slice(from);
    const end = rest.search(/\s/);
    if (end > 0) resolve(rest.slice(0, end));
  });
  stream.once('end', () => reject(new Error(`No address was written: ${text}`)));
  return promise;
}
