/**
 * A server's headers and `auth` in storage: envelopes, bound to the server and the origin they were given for, so that a row
 * moved to another server or address opens nothing. Headers from before there were envelopes open too.
 */
import { AuthSchema, type Auth, type Headers } from './credential-schema.ts';
import { isEnvelope, openEnvelope, sealEnvelope, type Place } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { escapeReferences } from './references.ts';

/** Fields of a server that are sealed. */
export type SealedField = 'headers' | 'auth';

/** An account, and whose it is. */
export interface AccountOwner {
  id: string;
  principalId: string;
}

/** Whose credential it is. */
export interface Owner {
  id: string;
  url: string;
  /** Where it is an account of a principal's own. */
  account?: AccountOwner | undefined;
}

/** By what an account's secrets know whose they are. */
export const accountPlaceId = (principalId: string, serverId: string): string =>
  `${principalId} ${serverId}`;

/** What a field of a server is bound to. */
export function credentialPlace({ id, url, account }: Owner, field: SealedField): Place {
  const { origin } = new URL(url);
  return account === undefined
    ? { kind: 'server', id, field, origin }
    : { kind: 'account', id: accountPlaceId(account.principalId, id), field, origin };
}

/** Seal headers or `auth` for storage. */
export function sealCredential(
  keys: KeyRing,
  owner: Owner,
  field: SealedField,
  value: Headers | Auth,
): Promise<string> {
  return sealEnvelope(keys, JSON.stringify(value), credentialPlace(owner, field));
}

/** The headers as they were given, or undefined where they do not belong here. */
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

/** `auth` as it was given, or undefined where it does not belong here. */
export async function openAuth(
  keys: KeyRing,
  owner: Owner,
  sealed: string,
): Promise<Auth | undefined> {
  const text = await openEnvelope(keys, sealed, credentialPlace(owner, 'auth'));
  return text === undefined ? undefined : AuthSchema.parse(JSON.parse(text));
}

/** Headers of the former form, which knew no references. */
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
