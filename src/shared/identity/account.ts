/** Accounts that a principal has at servers: whose credential its calls carry. Pure. */
import { z } from 'zod';

/** Whose account calls to a server use: the deployment's, each principal's own, or the own one if there is one, else the deployment's. */
export const AccountModeSchema = z.enum(['shared', 'per_principal', 'both']);
export type AccountMode = z.infer<typeof AccountModeSchema>;

/**
 * How an account's own list of a kind differs from the shared one: by what it lacks or by what it has, whichever is
 * shorter. Keys as servers write them.
 */
export const OwnListSchema = z.union([
  z.object({ lacks: z.array(z.string()) }),
  z.object({ has: z.array(z.string()) }),
]);
export type OwnList = z.infer<typeof OwnListSchema>;

/** By kind, the lists of an account that lack something of the shared catalog. */
export const OwnListsSchema = z.record(z.string(), OwnListSchema);
export type OwnLists = Readonly<Record<string, OwnList>>;

/** An account as a call needs it. */
export const HeldAccountSchema = z.object({
  id: z.string(),
  principalId: z.string(),
  serverId: z.string(),
  /** How the account authenticates, in an envelope bound to principal, server and the server's origin; empty after the account ended. */
  sealed: z.string(),
  /** Number of times it was connected. */
  revision: z.number(),
  /** Number of the current token, for an account whose token is renewed; null if a token was pasted. */
  serial: z.number().nullable(),
  /** Of the renewed token, in milliseconds since the epoch. */
  issuedAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  /** Why the owner has to sign in again; null while the account works. */
  ended: z.string().nullable(),
  /** Null if the account's own lists lack nothing, or were never read. */
  lists: OwnListsSchema.nullable(),
  /** Hash of the catalog that the lists were compared with; null if the credential has changed since. */
  listsOf: z.string().nullable(),
  /** When the lists were compared, in milliseconds since the epoch. */
  listsAt: z.number().nullable(),
});
export type HeldAccount = z.infer<typeof HeldAccountSchema>;

/** A valid token of an account, as the account's object hands it out. */
export interface FreshToken {
  sealed: string;
  serial: number;
  /** Milliseconds since the epoch. */
  issuedAt: number;
  expiresAt: number;
}

/** Builds the JSON of {@link HeldAccountSchema} from `accounts AS a LEFT JOIN account_grants AS g ON g.account_id = a.id`. */
export const HELD_ACCOUNT_SQL = `json_object('id', a.id, 'principalId', a.principal_id, 'serverId', a.server_id, 'sealed', a.auth_sealed,
    'revision', a.revision, 'serial', g.serial, 'issuedAt', g.issued_at, 'expiresAt', g.expires_at, 'ended', g.ended,
    'lists', json(a.own_lists), 'listsOf', a.own_lists_of, 'listsAt', a.own_lists_at)`;
