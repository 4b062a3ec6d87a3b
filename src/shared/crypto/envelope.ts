/**
 * Envelopes: how a secret is stored (SEC-1). Each has a random data key of its own, which the key ring seals. Both
 * layers are bound to the record's place, so an envelope that is moved to another row, field or origin does not open.
 * Key rotation seals the data key anew and leaves the rest unchanged.
 *
 * Form: `1:{data key as the key ring sealed it}:{base64url(iv ‖ ciphertext)}`. The second part begins with the key's
 * id, up to the dot, where SQL can compare it.
 */
import { fromBase64Url, randomBytes, toBase64Url } from './base64url.ts';
import { aesOpen, aesSeal, importAesKey } from './aes.ts';
import type { KeyRing } from './key-ring.ts';

/** The place that a secret is bound to; it opens only there. */
export interface Place {
  /** Kind of the record. */
  kind: 'server' | 'secret' | 'access_token' | 'account' | 'upstream_client' | 'chat' | 'webhook';
  /** The row's key. */
  id: string;
  field: string;
  /** The only origin to which it may be sent, or several separated by spaces. */
  origin: string;
}

const VERSION = '1';
const DATA_KEY_BYTES = 32;

type Layer = 'key' | 'value';

const boundTo = ({ kind, id, field, origin }: Place, layer: Layer) =>
  JSON.stringify([VERSION, layer, kind, id, field, origin]);

/** Seals a secret for its place. */
export async function sealEnvelope(keys: KeyRing, plain: string, place: Place): Promise<string> {
  const dataKey = randomBytes(DATA_KEY_BYTES);
  const wrapped = await keys.seal('envelope', toBase64Url(dataKey), boundTo(place, 'key'));
  const body = await aesSeal(await importAesKey(dataKey), plain, boundTo(place, 'value'));
  return `${VERSION}:${wrapped}:${body}`;
}

/** Returns the secret, or undefined if text, place or key do not match. */
export async function openEnvelope(
  keys: KeyRing,
  sealed: string,
  place: Place,
): Promise<string | undefined> {
  return (await unwrap(keys, sealed, place))?.plain;
}

/** Returns the same envelope with its data key under the active key, or undefined if it does not open. */
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

/** Whether a text has this form; before envelopes existed, the key ring sealed secrets directly. */
export function isEnvelope(sealed: string): boolean {
  return sealed.startsWith(`${VERSION}:`);
}

/** Returns how the text of an envelope under a key begins. */
export function envelopePrefix(keyId: string): string {
  return `${VERSION}:${keyId}.`;
}
