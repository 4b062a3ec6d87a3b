/**
 * A server's headers and `auth` in storage: envelopes bound to the server and to the origin they were given for, so that a row moved to
 * another server or address opens nothing. Headers in the form that preceded envelopes open too.
 */
import { AuthSchema, type Auth, type Headers } from './credential-schema.ts';
import { isEnvelope, openEnvelope, sealEnvelope, type Place } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { escapeReferences } from './references.ts';

export type SealedField = 'headers' | 'auth';

/** An account and its principal. */
export interface AccountOwner {
  id: string;
  principalId: string;
}

/** The server, or the account at a server, that a credential belongs to. */
export interface Owner {
  id: string;
  url: string;
  /** Set if it is a principal's own account. */
  account?: AccountOwner | undefined;
}

/** The id that an account's secrets are bound to. */
export const accountPlaceId = (principalId: string, serverId: string): string =>
  `${principalId} ${serverId}`;

/** The place that a field is bound to. */
export function credentialPlace({ id, url, account }: Owner, field: SealedField): Place {
  const { origin } = new URL(url);
  return account === undefined
    ? { kind: 'server', id, field, origin }
    : { kind: 'account', id: accountPlaceId(account.principalId, id), field, origin };
}

/** Seals headers or `auth` for storage. */
export function sealCredential(
  keys: KeyRing,
  owner: Owner,
  field: SealedField,
  value: Headers | Auth,
): Promise<string> {
  return sealEnvelope(keys, JSON.stringify(value), credentialPlace(owner, field));
}

/** Opens headers as they were given; undefined if they are not bound to this place. */
export async function openHeaders(
  keys: KeyRing,
  owner: Owner,
  sealed: string,
): Promise<Headers | undefined> {
  const place = credentialPlace(owner, 'headers');
  if (!isEnvelope(sealed)) return openFormer(keys, owner, place.origin, sealed);
  const text = await openEnvelope(keys, sealed, place);
  return text === undefined ? undefined : (JSON.parse(text) as Headers);
}

/** Opens `auth` as it was given; undefined if it is not bound to this place. */
export async function openAuth(
  keys: KeyRing,
  owner: Owner,
  sealed: string,
): Promise<Auth | undefined> {
  const text = await openEnvelope(keys, sealed, credentialPlace(owner, 'auth'));
  return text === undefined ? undefined : AuthSchema.parse(JSON.parse(text));
}

/** Opens headers of the former form, which had no references. */
async function openFormer(
  keys: KeyRing,
  { id }: Owner,
  origin: string,
  sealed: string,
): Promise<Headers | undefined> {
  const text = await keys.open('credential', sealed, `1|${id}|${origin}|headers`);
  if (text === undefined) return undefined;
  const entries = Object.entries(JSON.parse(text) as Headers);
  return Object.fromEntries(entries.map(([name, value]) => [name, escapeReferences(value)]));
}
