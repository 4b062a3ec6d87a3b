/** Chooses the id under which a refusal is sent on a stream. Pure. */
import { idText, type RequestId } from '../../shared/protocol.ts';

const NO_ID = '{"jsonrpc":"2.0","id":null,';

/** Puts the request's id into a refusal made before the request was read: on a stream only the id tells which request was refused. */
export function underId(text: string, id: RequestId | null): string {
  if (id === null || !text.startsWith(NO_ID)) return text;
  return `{"jsonrpc":"2.0","id":${idText(id)},${text.slice(NO_ID.length)}`;
}
