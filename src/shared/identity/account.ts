/** Accounts that a principal has at servers: whose credential its calls carry. Pure. */
import { z } from 'zod';

/** Whose account calls to a server use: the deployment's, each principal's own, or its own where it has one. */
export const AccountModeSchema = z.enum(['shared', 'per_principal', 'both']);
export type AccountMode = z.infer<typeof AccountModeSchema>;

/** What an account's own list of a kind has of the shared one: all but some, or only some; whichever is shorter. Keys as servers write them. */
export const OwnListSchema = z.union([
  z.object({ lacks: z.array(z.string()) }),
  z.object({ has: z.array(z.string()) }),
]);
export type OwnList = z.infer<typeof OwnListSchema>;

/** The lists of an account that lack something of the shared catalog, by kind. */
export const OwnListsSchema = z.record(z.string(), OwnListSchema);
export type OwnLists = Readonly<Record<string, OwnList>>;

/** An account as a call needs it. */
export const HeldAccountSchema = z.object({
  id: z.string(),
  principalId: z.string(),
  serverId: z.string(),
  /** How it authenticates, in an envelope that is bound to principal, server and the server's origin; empty where it ended. */
  sealed: z.string(),
  /** Counts how often it was connected. */
  revision: z.number(),
  /** Counts the tokens of an account that is renewed; null where a token was pasted. */
  serial: z.number().nullable(),
  /** Of such a token, in milliseconds since the epoch. */
  issuedAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  /** Why its owner has to sign in again; null while it works. */
  ended: z.string().nullable(),
  /** Null where its own lists lack nothing, or were never read. */
  lists: OwnListsSchema.nullable(),
  /** Hash of the catalog that they were compared with; null where its credential is another one since. */
  listsOf: z.string().nullable(),
  /** When, in milliseconds since the epoch. */
  listsAt: z.number().nullable(),
});
export type HeldAccount = z.infer<typeof HeldAccountSchema>;

/** A token that an account can be sent with, as its object hands it out. */
export interface FreshToken {
  sealed: string;
  serial: number;
  /** Milliseconds since the epoch. */
  issuedAt: number;
  expiresAt: number;
}

/** The JSON of {@link HeldAccountSchema}, of `accounts AS a LEFT JOIN account_grants AS g ON g.account_id = a.id`. */
export const HELD_ACCOUNT_SQL = `json_object('id', a.id, 'principalId', a.principal_id, 'serverId', a.server_id, 'sealed', a.auth_sealed,
    'revision', a.revision, 'serial', g.serial, 'issuedAt', g.issued_at, 'expiresAt', g.expires_at, 'ended', g.ended,
    'lists', json(a.own_lists), 'listsOf', a.own_lists_of, 'listsAt', a.own_lists_at)`;
