/**
 * How long names may be. Checked at the border, before anything looks a name up, compares, records or repeats it. Pure.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { MAX_NAME_CHARS, MAX_URI_CHARS } from '../shared/util/name-limits.ts';
import { isObject, type JsonObject, type RpcRequest } from '../shared/protocol.ts';

/** Longest id of a task and cursor: both are made here, and hold a name of a server in a form of ours. */
const MAX_OWN_CHARS = 32_768;

const PARAMS: readonly (readonly [member: string, maxChars: number])[] = [
  ['name', MAX_NAME_CHARS],
  ['uri', MAX_URI_CHARS],
  ['cursor', MAX_OWN_CHARS],
  ['taskId', MAX_OWN_CHARS],
  ['level', MAX_NAME_CHARS],
];
const REF = [
  ['name', MAX_NAME_CHARS],
  ['uri', MAX_URI_CHARS],
] as const;
const META_KEYS = [['progressToken', MAX_NAME_CHARS]] as const;

/**
 * @param request whose params are absent or an object
 * @throws PorticoError `invalid_request`, `invalid_params`
 */
export function checkNames({ id, method, params }: RpcRequest): void {
  if (method.length > MAX_NAME_CHARS) throw tooLong('invalid_request', 'method', MAX_NAME_CHARS);
  if (typeof id === 'string' && id.length > MAX_NAME_CHARS) {
    throw tooLong('invalid_request', 'id', MAX_NAME_CHARS);
  }
  if (!params) return;
  check(params, PARAMS, 'params');
  check(params['ref'], REF, 'params.ref');
  check(params['_meta'], META_KEYS, 'params._meta');
}

function check(
  holder: unknown,
  bounds: readonly (readonly [member: string, maxChars: number])[],
  where: string,
): void {
  if (!isObject(holder)) return;
  for (const [member, maxChars] of bounds) {
    const value = (holder as JsonObject)[member];
    if (typeof value !== 'string' || value.length <= maxChars) continue;
    throw tooLong('invalid_params', `${where}.${member}`, maxChars);
  }
}

const tooLong = (code: 'invalid_request' | 'invalid_params', where: string, maxChars: number) =>
  new PorticoError(code, `${where} may have ${maxChars} characters at most`);
