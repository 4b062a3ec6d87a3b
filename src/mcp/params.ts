/**
 * Takes the params of a message apart, once it can be read in one way only (SEC-10). The gateway decides on members by their exact
 * names and forwards the others unseen; a server that folds names would read `Name` in place of the `name` that was decided on. So a
 * member that folds to a decided name is refused, and one that is there twice, wherever it stands among the decided ones. What is
 * below `arguments` is the tool's own and is not judged.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import { DecidedNames } from '../shared/util/folded-name.ts';
import { rawMembers, type RawObject } from '../shared/json/json-spans.ts';
import { toVisible } from '../shared/util/visible-text.ts';
import { META } from '../shared/protocol.ts';

const MAX_SHOWN_CHARS = 60;

const MESSAGE = new DecidedNames(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
/** Of every method in one: none gives the name of another's a meaning of its own. */
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
 * The raw params of a message.
 * @param text of the whole message, valid JSON
 * @throws PorticoError `invalid_request`, `invalid_params`
 */
export function readParams(text: string): RawObject {
  const message = readOnce(text, MESSAGE, 'The message', 'invalid_request');
  const params = readOnce(message.get('params'), PARAMS, 'params');
  readOnce(params.get('ref'), REF, 'params.ref');
  readOnce(params.get('capabilities'), CAPABILITIES, 'params.capabilities');
  const meta = readOnce(params.get('_meta'), META_KEYS, 'params._meta');
  const declared = meta.get(META.clientCapabilities);
  readOnce(declared, CAPABILITIES, `params._meta["${META.clientCapabilities}"]`);
  return params;
}

/**
 * The raw arguments of `call_tool`, which are the params of another call.
 * @throws PorticoError `invalid_params`
 */
export function readCallArguments(text: string | undefined): RawObject {
  return readOnce(text, CALL, 'call_tool: arguments');
}

/** Members of an object of which none is there in two spellings; none where the text is no object. */
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
