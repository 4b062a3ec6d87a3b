/**
 * Tokens for the configuration of a host: they list and call tools and administer nothing, since the host can read the file. With an
 * administrator's token, a new one is made for the host; a caller who cannot make tokens gives their own.
 */
import { hostname } from 'node:os';
import { EXIT, Failure } from '../failure.ts';
import { OWN_TOKEN, TOKENS, type Api, type OwnToken, type TokenRecord } from '../gateway/api.ts';

const MEMBER_SCOPES = ['tools:read', 'tools:call'];

export interface MadeToken {
  id: string;
  name: string;
  value: string;
}

export const isAdmin = ({ scopes }: OwnToken): boolean => scopes.includes('admin');
export const isMember = ({ scopes }: OwnToken): boolean =>
  scopes.every(scope => MEMBER_SCOPES.includes(scope));

/** Reads the token that an API client uses; undefined where the gateway refuses it. @throws Failure where the gateway does not respond */
export async function readOwnToken(api: Api): Promise<OwnToken | undefined> {
  try {
    return await api.json<OwnToken>('GET', OWN_TOKEN);
  } catch (error) {
    if (error instanceof Failure && error.exitCode === EXIT.denied) return undefined;
    throw error;
  }
}

/** Refuses a token that can neither make a token for a host nor be given to one. @throws Failure */
export function checkAsker(asker: OwnToken | undefined, origin: string): asserts asker is OwnToken {
  if (!asker)
    throw new Failure(`${origin} does not know the token; see PORTICO_TOKEN`, EXIT.denied);
  if (isAdmin(asker) || isMember(asker)) return;
  const more = asker.scopes.filter(scope => !MEMBER_SCOPES.includes(scope)).join(', ');
  const advice = 'use one that only lists and calls tools, or the admin token to create one';
  throw new Failure(`this token may do more than a client needs (${more}); ${advice}`, EXIT.usage);
}

/** Prefix of the names of tokens made for a host: `cursor@laptop`. */
const markOf = (host: string): string => `${host}@`;

/** Makes a token for a host. @param principal its owner; undefined creates a new principal @throws Failure */
export async function makeToken(
  api: Api,
  host: string,
  principal: string | undefined,
): Promise<MadeToken> {
  const machine = hostname().split('.')[0] ?? '';
  const name = `${markOf(host)}${machine}`.slice(0, 100);
  const scopes = MEMBER_SCOPES;
  const body = { name, scopes, ...(principal === undefined ? {} : { principal }) };
  const { id, token } = await api.post<{ id: string; token: string }>(TOKENS, body);
  return { id, name, value: token };
}

/** Returns the record of a token if it was made for the host. @throws Failure */
export async function findMade(
  admin: Api,
  host: string,
  token: OwnToken,
): Promise<TokenRecord | undefined> {
  // Tokens made for a host never have more scopes.
  if (!isMember(token)) return undefined;
  const record = await admin.json<TokenRecord>('GET', `${TOKENS}/${token.id}`);
  return record.name.startsWith(markOf(host)) ? record : undefined;
}

export const revoke = (admin: Api, id: string): Promise<void> =>
  admin.json('DELETE', `${TOKENS}/${id}`);
