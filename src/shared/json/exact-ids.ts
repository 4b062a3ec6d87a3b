/**
 * Ids of JSON-RPC messages and tokens of progress that no JavaScript number holds. `JSON.parse` rounds an integer past 2^53, so that
 * two ids become one; here such a one is read again from the text, as a bigint. Pure, linear, and nothing to do for other messages.
 *
 * Only integers in plain digits count, so that equal ids have equal texts. A fraction, an exponent and more digits than a name may
 * have characters stay numbers, which are no valid ids there.
 */
import { MAX_NAME_CHARS } from '../util/name-limits.ts';
import { rawElements, rawMembers, type RawObject } from './json-spans.ts';

type Members = Record<string, unknown>;

const DIGITS = /^-?\d+$/;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && !Number.isSafeInteger(value);

/** What a raw value is as an id: the parsed one, but exact. */
function exact(parsed: unknown, raw: string | undefined): unknown {
  const isWhole = raw !== undefined && raw.length <= MAX_NAME_CHARS && DIGITS.test(raw);
  return isInexact(parsed) && isWhole ? BigInt(raw) : parsed;
}

/** An id of which only the text is known. @throws SyntaxError where it is no JSON */
export function parseId(raw: string): unknown {
  return exact(JSON.parse(raw), raw);
}

/**
 * A message, or an array of messages, with its ids exact. Changed in place: what was parsed is whose text this is.
 * @param text what it was parsed from
 */
export function withExactIds(parsed: unknown, text: string): unknown {
  if (!Array.isArray(parsed)) mend(parsed, () => rawMembers(text));
  else if (parsed.some(hasInexact)) {
    const texts = rawElements(text);
    for (const [at, message] of parsed.entries())
      mend(message, () => rawMembers(texts[at] ?? '{}'));
  }
  return parsed;
}

/** Whether a message names an id that was rounded; nothing is made for it, since every message comes by here. */
function hasInexact(message: unknown): message is Members {
  if (!isMembers(message)) return false;
  if (isInexact(message['id'])) return true;
  const { params } = message;
  if (!isMembers(params)) return false;
  const { requestId, progressToken, _meta: meta } = params;
  const isInMeta = isMembers(meta) && isInexact(meta['progressToken']);
  return isInMeta || isInexact(requestId) || isInexact(progressToken);
}

function mend(message: unknown, readRaw: () => RawObject): void {
  if (!hasInexact(message)) return;
  const raw = readRaw();
  const params = mendMembers(message, raw, ['id'], 'params');
  const meta = params && mendMembers(...params, ['requestId', 'progressToken'], '_meta');
  if (meta) mendMembers(...meta, ['progressToken']);
}

/** @returns the member under `inner` and its raw members, where it is an object */
function mendMembers(
  holder: Members,
  raw: RawObject,
  keys: readonly string[],
  inner = '',
): [Members, RawObject] | undefined {
  for (const key of keys) if (key in holder) holder[key] = exact(holder[key], raw.get(key));
  const next = holder[inner];
  return isMembers(next) ? [next, rawMembers(raw.get(inner) ?? '{}')] : undefined;
}
