/** Commands that sign in by themselves write the address that a person is to open: it is found in what they write. */

import type { Stream } from 'node:stream';

/**
 * The first address of the gateway's `/authorize` that comes on a stream, which is read to its end.
 * @throws Error with all that came, where the stream ends without one
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
