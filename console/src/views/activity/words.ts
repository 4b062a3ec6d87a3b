/** The audit in plain words: what was done, its outcome, and why. Pure. */
import type { AuditEvent } from '../../generated/types.gen.ts';

export type Outcome = AuditEvent['outcome'];

export const OUTCOMES: Readonly<Record<Outcome, { word: string; badge: '' | 'good' | 'bad' }>> = {
  done: { word: 'done', badge: 'good' },
  denied: { word: 'refused', badge: 'bad' },
  failed: { word: 'failed', badge: 'bad' },
  cancelled: { word: 'cancelled', badge: '' },
  unknown: { word: 'not known', badge: '' },
};

const OUTCOME_SENTENCES: Readonly<Record<Outcome, string>> = {
  done: 'It was done',
  denied: 'It was refused',
  failed: 'It failed',
  cancelled: 'The caller cancelled it or disconnected',
  unknown: 'Its outcome is not known: the gateway or the server stopped meanwhile',
};

/** Codes that need an explanation. */
const CODES: Readonly<Record<string, string>> = {
  tool_not_found: 'there is no such tool for this caller: it is hidden, or does not exist',
  prompt_not_found: 'there is no such prompt for this caller',
  resource_not_found: 'there is no such resource for this caller',
  forbidden: 'the token may not do that',
  rate_limited: 'too many calls in a short time',
  too_many_calls: 'too many calls at once',
  busy: 'the gateway had too much to do',
  invalid_params: 'the arguments do not fit',
  server_disconnected: 'the server is not connected',
  account_needed: 'the person has no account at the server',
  upstream_unreachable: 'the server was not reached',
  upstream_timeout: 'the server did not answer in time',
  upstream_truncated: 'the answer of the server was cut off',
  upstream_5xx: 'the server had an error',
  upstream_4xx: 'the server refused it',
  validation_failed: 'what was sent is not valid',
  precondition_failed: 'somebody else had changed it meanwhile',
  conflict: 'it does not go with what is there',
  not_found: 'there is no such thing',
};

const VERBS: Readonly<Record<string, string>> = {
  approve: 'approved',
  call: 'called',
  classify: 'sorted by skill',
  compare: 'compared',
  connect: 'connected',
  correct: 'corrected the skills of',
  create: 'made',
  delete: 'deleted',
  disconnect: 'disconnected',
  expire: 'saw expire',
  get: 'got',
  import: 'imported',
  list: 'listed',
  merge: 'merged',
  prune: 'deleted old rows of',
  put: 'stored',
  read: 'read',
  reject: 'rejected',
  revoke: 'revoked',
  rotate: 'renewed',
  update: 'changed',
  withdraw_correction: 'took back the correction of',
};

/** Nouns without an article, or with another word. */
const NOUNS: Readonly<Record<string, string>> = {
  keys: 'the keys',
  audit: 'the audit',
  oauth_client: 'a client program',
  ask_allowlist: 'an entry of the allow-list',
  grant: 'the access of a client program',
  rest: 'the API',
};

/** Looks up a key that may come from outside. */
export const lookUp = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Actions with their own words. */
const DEEDS: Readonly<Record<string, string>> = {
  'sign_in.create': 'signed in',
  'sign_in.delete': 'ended a sign-in',
  'setup.redeem': 'used the link of the first start',
};

/** Turns `server.update` into `changed a server`. An unknown action is shown as it is. */
export function toDeed(action: string): string {
  const deed = lookUp(DEEDS, action);
  if (deed !== undefined) return deed;
  const [noun = '', verb = ''] = action.split('.', 2);
  const word = lookUp(VERBS, verb);
  if (word === undefined) return action;
  const plain = noun.replaceAll('_', ' ');
  return `${word} ${lookUp(NOUNS, noun) ?? `${/^[aeiou]/.test(plain) ? 'an' : 'a'} ${plain}`}`;
}

/** Writes the outcome as a sentence. */
export function toEnding({ outcome, code }: Pick<AuditEvent, 'outcome' | 'code'>): string {
  const sentence = OUTCOME_SENTENCES[outcome];
  if (code === null) return `${sentence}.`;
  return `${sentence}: ${lookUp(CODES, code) ?? code.replaceAll('_', ' ')}.`;
}

const FIELDS: Readonly<Record<string, string>> = {
  door: 'Came by',
  duration_ms: 'Took, in milliseconds',
  arguments: 'Arguments, without secrets',
  arguments_digest: 'Fingerprint of the arguments',
  server: 'Id of the server',
  fields: 'Fields that changed',
  expires_at: 'Ends at',
  by: 'By means of',
  transport_type: 'Transport',
};

/** Display name of a field of the details. */
export function toField(name: string): string {
  const known = lookUp(FIELDS, name);
  if (known !== undefined) return known;
  const plain = name.replaceAll('_', ' ');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** Formats a value of the details; structures become indented JSON. */
export const toText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');
