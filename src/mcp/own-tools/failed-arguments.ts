/**
 * Where a call through `call_tool` failed because of its arguments, the answer shows what the tool takes, so that a model can correct them
 * in one more call. The tool's own schema decides whether the arguments were at fault, since servers report that in no uniform way.
 */
import { checkSchema } from '../../agents/ask/schema-check.ts';
import type { ListedItem } from '../../gateway/listing.ts';
import { fromRawMembers, rawElements, rawMembers } from '../../shared/json/json-spans.ts';
import { isObject, RPC, type JsonObject } from '../../shared/protocol.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import { toSignature } from './signature.ts';

export interface MadeCall {
  tool: ListedItem;
  /** Raw arguments. */
  given: string;
}

/** Longest arguments and schemas that are compared, longest schema and message that are shown, in UTF-16 units. */
const MAX_COMPARED_CHARS = 65_536;
const MAX_SHOWN_CHARS = 6_000;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_STEPS = 10_000;

/** Returns the server's raw result; adds what the tool takes to a failure whose arguments do not fit. */
export function withSchema(result: string, parsed: JsonObject, call: MadeCall): string {
  if (parsed['isError'] !== true || !Array.isArray(parsed['content'])) return result;
  const members = rawMembers(result);
  const said = toHint(call);
  if (said === undefined) return result;
  const blocks = [...rawElements(members.get('content') ?? '[]'), toBlock(said)];
  return fromRawMembers(members.set('content', `[${blocks.join(',')}]`));
}

/**
 * Does the same for a server that refused the request itself.
 * @param error parsed JSON-RPC error
 * @returns the raw tool result to give instead; undefined where the arguments are not at fault
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

/** Returns what a model needs to correct its arguments; undefined where they fit, or where that cannot be decided. */
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
