/** Under which id a refusal goes out on a stream. Pure. */
import type { RequestId } from '../../shared/protocol.ts';

const NO_ID = '{"jsonrpc":"2.0","id":null,';

/** A refusal under the id of its request, also where the request was refused before it was read: a stream has no other way to tell. */
export function underId(text: string, id: RequestId | null): string {
  if (id === null || !text.startsWith(NO_ID)) return text;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${text.slice(NO_ID.length)}`;
}
