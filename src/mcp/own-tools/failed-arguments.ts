/**
 * A call through `call_tool` that failed for its arguments: the answer shows what the tool takes, so that a model can put them right in one
 * more call. Whether the arguments were at fault is decided here, by the tool's own schema: what servers say of it has no one form.
 */
import { checkSchema } from '../../agents/ask/schema-check.ts';
import type { ListedItem } from '../../gateway/listing.ts';
import { fromRawMembers, rawElements, rawMembers } from '../../shared/json/json-spans.ts';
import { isObject, RPC, type JsonObject } from '../../shared/protocol.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import { toSignature } from './signature.ts';

/** A call as it was made. */
export interface MadeCall {
  tool: ListedItem;
  /** Raw arguments. */
  given: string;
}

/** Longest arguments and schemas that are compared, and longest schema that is shown, in UTF-16 units. */
const MAX_COMPARED_CHARS = 65_536;
const MAX_SHOWN_CHARS = 6_000;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_STEPS = 10_000;

/** The server's raw result; where its arguments do not fit, with what the tool takes. */
export function withSchema(result: string, parsed: JsonObject, call: MadeCall): string {
  if (parsed['isError'] !== true || !Array.isArray(parsed['content'])) return result;
  const members = rawMembers(result);
  const said = toHint(call);
  if (said === undefined) return result;
  const blocks = [...rawElements(members.get('content') ?? '[]'), toBlock(said)];
  return fromRawMembers(members.set('content', `[${blocks.join(',')}]`));
}

/**
 * The same for a server that refused the request itself.
 * @param error parsed, of JSON-RPC
 * @returns the raw result of a tool in its place; undefined where the arguments are not at fault
 */
export function refusedAsResult(
  error: JsonObject,
  call: MadeCall,
  server: string,
): string | undefined {
  const said = error['code'] === RPC.invalidParams ? toHint(call) : undefined;
  if (said === undefined) return undefined;
  const message = toOneLine(String(error['message']), MAX_MESSAGE_CHARS);
  const content = `[${toBlock(`${server}: ${message}`)},${toBlock(said)}]`;
  return `{"content":${content},"isError":true}`;
}

const toBlock = (text: string) => JSON.stringify({ type: 'text', text });

/** What a model has to know to put its arguments right; undefined where they fit, or nobody can tell. */
function toHint({ tool, given }: MadeCall): string | undefined {
  const { raw } = tool.item;
  const schema = raw.get('inputSchema') ?? '';
  if (schema.length > MAX_COMPARED_CHARS || given.length > MAX_COMPARED_CHARS) return undefined;
  const wanted: unknown = JSON.parse(schema || 'null');
  const checked = isObject(wanted)
    ? checkSchema(wanted, JSON.parse(given), MAX_STEPS)
    : ({ fit: 'fits' } as const);
  if (checked.fit !== 'differs') return undefined;
  const shown =
    schema.length <= MAX_SHOWN_CHARS
      ? schema
      : `${toSignature(tool.item)}; describe_tool shows all of it`;
  return `call_tool: the arguments do not fit (${checked.detail}). The tool takes: ${shown}`;
}
