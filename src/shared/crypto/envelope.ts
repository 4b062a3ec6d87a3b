/**
 * Envelopes: how a secret lies in storage (SEC-1). Each has a random data key of its own, which is sealed by the key ring;
 * both layers are bound to the record's place, so that a text moved to another row, field or origin opens nothing.
 * Rotation seals the data key anew and leaves the rest as it is.
 *
 * Form: `1:{data key as the key ring sealed it}:{base64url(iv ‖ ciphertext)}`. The key's id stands at the beginning of the
 * second part, up to the dot, where SQL can compare it.
 */
import { fromBase64Url, randomBytes, toBase64Url } from './base64url.ts';
import { aesOpen, aesSeal, importAesKey } from './aes.ts';
import type { KeyRing } from './key-ring.ts';

/** Where a secret belongs: what it can be opened for. */
export interface Place {
  /** Kind of the record. */
  kind: 'server' | 'secret' | 'access_token' | 'account' | 'upstream_client' | 'chat' | 'webhook';
  /** The row's key. */
  id: string;
  field: string;
  /** The only origin, or all origins with a space between, to which it may be sent. */
  origin: string;
}

const VERSION = '1';
const DATA_KEY_BYTES = 32;

type Layer = 'key' | 'value';

const boundTo = ({ kind, id, field, origin }: Place, layer: Layer) =>
  JSON.stringify([VERSION, layer, kind, id, field, origin]);

/** Seal a secret for its place. */
export async function sealEnvelope(keys: KeyRing, plain: string, place: Place): Promise<string> {
  const dataKey = randomBytes(DATA_KEY_BYTES);
  const wrapped = await keys.seal('envelope', toBase64Url(dataKey), boundTo(place, 'key'));
  const body = await aesSeal(await importAesKey(dataKey), plain, boundTo(place, 'value'));
  return `${VERSION}:${wrapped}:${body}`;
}

/** The secret, or undefined where text, place or key do not fit. */
export async function openEnvelope(
  keys: KeyRing,
  sealed: string,
  place: Place,
): Promise<string | undefined> {
  return (await unwrap(keys, sealed, place))?.plain;
}

/** The same envelope with its data key under the active key, or undefined where it does not open. */
export async function rewrapEnvelope(
  keys: KeyRing,
  sealed: string,
  place: Place,
): Promise<string | undefined> {
  const opened = await unwrap(keys, sealed, place);
  if (!opened) return undefined;
  const wrapped = await keys.seal('envelope', opened.dataKey, boundTo(place, 'key'));
  return `${VERSION}:${wrapped}:${opened.body}`;
}

interface Opened {
  /** Base64url. */
  dataKey: string;
  body: string;
  plain: string;
}

async function unwrap(keys: KeyRing, sealed: string, place: Place): Promise<Opened | undefined> {
  const [version, wrapped = '', body, ...more] = sealed.split(':');
  if (version !== VERSION || body === undefined || more.length > 0) return undefined;
  const dataKey = await keys.open('envelope', wrapped, boundTo(place, 'key'));
  const bytes = dataKey === undefined ? undefined : fromBase64Url(dataKey);
  if (dataKey === undefined || bytes?.length !== DATA_KEY_BYTES) return undefined;
  const plain = await aesOpen(await importAesKey(bytes), body, boundTo(place, 'value'));
  return plain === undefined ? undefined : { dataKey, body, plain };
}

/** Whether a text has this form; before there were envelopes the key ring sealed secrets by itself. */
export function isEnvelope(sealed: string): boolean {
  return sealed.startsWith(`${VERSION}:`);
}

/** What the text of an envelope under a key begins with. */
export function envelopePrefix(keyId: string): string {
  return `${VERSION}:${keyId}.`;
}
