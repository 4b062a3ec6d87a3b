/**
 * Checks the params of a message. Names are bounded in length before anything looks them up, compares, records or repeats them.
 * Params are taken apart only if they can be read in one way (SEC-10). The gateway decides on members by their exact names and forwards the
 * others unread, but a server that folds names would read `Name` in place of the `name` that was decided on. So a member that folds to a
 * decided name is refused, and so is any member that occurs twice in an object with decided names. What is below `arguments` belongs to the
 * tool and is not checked. Pure; linear in the text.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import { rawMembers, type RawObject } from '../shared/json/json-spans.ts';
import { toVisible } from '../shared/util/visible-text.ts';
import { META, isObject, type JsonObject, type RpcRequest } from '../shared/protocol.ts';
import { MAX_NAME_CHARS, MAX_URI_CHARS } from '../shared/util/name-limits.ts';

/** Longest remainder that is folded, in UTF-16 units; every known name is far shorter. */
const MAX_REST_CHARS = 128;
const ASCII_NAME = /^[\x20-\x7e]*$/;
const ASCII_IGNORED = /[ _-]+/g;
/** Characters that carry no part of a name: marks, blanks, controls, invisible ones, `_` and `-`. */
const IGNORED = /[\p{M}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}_-]+/gu;

/**
 * Folds a name as lenient JSON parsers read it: without case, marks, blanks, separators and compatibility forms. Some parsers ignore case
 * (Go's `encoding/json`, .NET), some ignore `_` and `-` (Go's v2, Python's aliases), some stop at NUL or drop invisible characters.
 * @returns undefined where the name is too long to fold to a known name
 */
export function foldName(name: string): string | undefined {
  if (ASCII_NAME.test(name)) return name.replaceAll(ASCII_IGNORED, '').toLowerCase();
  // Remove marks first: normalising a long run of them takes quadratic time.
  const rest = name.replaceAll(IGNORED, '');
  if (rest.length > MAX_REST_CHARS) return undefined;
  const plain = rest.normalize('NFKD').replaceAll(IGNORED, '');
  // Upper case first, since some letters share their upper case with others: U+0131 becomes I.
  return plain.toUpperCase().toLowerCase().normalize('NFKD').replaceAll(IGNORED, '');
}

/** A set of names that the gateway decides on; finds other names that fold to one of them. */
export class DecidedNames {
  readonly #names: ReadonlySet<string>;
  readonly #folded: ReadonlyMap<string, string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    this.#folded = new Map(names.map(name => [foldName(name) ?? name, name]));
  }

  /** Returns the decided name that a name is another spelling of; undefined for the decided names themselves. */
  otherSpellingOf(name: string): string | undefined {
    if (this.#names.has(name)) return undefined;
    const folded = foldName(name);
    return folded === undefined ? undefined : this.#folded.get(folded);
  }
}

const MAX_SHOWN_CHARS = 60;

const MESSAGE = new DecidedNames(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
/** The names of all methods in one set: no method gives another's name a meaning of its own. */
const PARAMS = new DecidedNames([
  '_meta',
  'argument',
  'arguments',
  'capabilities',
  'clientInfo',
  'context',
  'cursor',
  'inputResponses',
  'level',
  'name',
  'notifications',
  'progressToken',
  'protocolVersion',
  'ref',
  'requestId',
  'requestState',
  'task',
  'taskId',
  'uri',
]);
const REF = new DecidedNames(['type', 'name', 'uri']);
const META_KEYS = new DecidedNames([...Object.values(META), 'progressToken']);
const CAPABILITIES = new DecidedNames(['roots', 'sampling', 'elicitation', 'extensions', 'tasks']);
const CALL = new DecidedNames(['name', 'arguments']);

/**
 * Returns the raw params of a message.
 * @param text the whole message, valid JSON
 * @throws PorticoError `invalid_request`, `invalid_params`
 */
export function readParams(text: string): RawObject {
  const message = readOnce(text, MESSAGE, 'The message', 'invalid_request');
  const params = readOnce(message.get('params'), PARAMS, 'params');
  readOnce(params.get('ref'), REF, 'params.ref');
  readOnce(params.get('capabilities'), CAPABILITIES, 'params.capabilities');
  // Some clients write `null` for what they leave out.
  if (params.get('_meta') === 'null') params.delete('_meta');
  const given = params.get('_meta');
  if (given?.startsWith('{') === false) {
    throw new PorticoError('invalid_params', 'params._meta must be an object');
  }
  const meta = readOnce(given, META_KEYS, 'params._meta');
  const declared = meta.get(META.clientCapabilities);
  readOnce(declared, CAPABILITIES, `params._meta["${META.clientCapabilities}"]`);
  return params;
}

/**
 * Returns the raw arguments of `call_tool`, which are the params of another call.
 * @throws PorticoError `invalid_params`
 */
export function readCallArguments(text: string | undefined): RawObject {
  return readOnce(text, CALL, 'call_tool: arguments');
}

/** Returns the members of an object and refuses repeated members and other spellings; empty where the text is no object. */
function readOnce(
  text: string | undefined,
  names: DecidedNames,
  where: string,
  code: ErrorCode = 'invalid_params',
): RawObject {
  if (!text?.trimStart().startsWith('{')) return new Map();
  const shown = (name: string) =>
    `"${toVisible(name.slice(0, MAX_SHOWN_CHARS), () => true, true)}"`;
  const members = rawMembers(text, name => {
    throw new PorticoError(code, `${where} has a member twice: ${shown(name)}`);
  });
  for (const name of members.keys()) {
    const decided = names.otherSpellingOf(name);
    if (decided === undefined) continue;
    throw new PorticoError(code, `${where} has another spelling of ${decided}: ${shown(name)}`);
  }
  return members;
}

/** Longest task id and longest cursor: the gateway makes both, and they contain a server's name in an encoded form. */
export const MAX_OWN_CHARS = 32_768;

const PARAM_BOUNDS: readonly (readonly [member: string, maxChars: number])[] = [
  ['name', MAX_NAME_CHARS],
  ['uri', MAX_URI_CHARS],
  ['cursor', MAX_OWN_CHARS],
  ['taskId', MAX_OWN_CHARS],
  ['level', MAX_NAME_CHARS],
];
const REF_BOUNDS = [
  ['name', MAX_NAME_CHARS],
  ['uri', MAX_URI_CHARS],
] as const;
const META_BOUNDS = [['progressToken', MAX_NAME_CHARS]] as const;

/**
 * Checks the lengths of the names in a request.
 * @param request whose params are absent or an object
 * @throws PorticoError `invalid_request`, `invalid_params`
 */
export function checkNames({ id, method, params }: RpcRequest): void {
  if (method.length > MAX_NAME_CHARS) throw tooLong('invalid_request', 'method', MAX_NAME_CHARS);
  if (typeof id === 'string' && id.length > MAX_NAME_CHARS) {
    throw tooLong('invalid_request', 'id', MAX_NAME_CHARS);
  }
  if (!params) return;
  check(params, PARAM_BOUNDS, 'params');
  check(params['ref'], REF_BOUNDS, 'params.ref');
  check(params['_meta'], META_BOUNDS, 'params._meta');
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
