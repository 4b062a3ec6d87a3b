/** The `accounts` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import type { ReadTable } from '../../records/record-store.ts';
import { jsonOf } from '../../records/record-schema.ts';
import {
  HELD_ACCOUNT_SQL,
  HeldAccountSchema,
  type HeldAccount,
} from '../../shared/identity/account.ts';
import { AccountSchema, type Account } from './account-schema.ts';

export const ACCOUNTS: ReadTable<Account> = {
  name: 'accounts',
  source: `(SELECT a.id, a.principal_id, p.name AS principal_name, a.server_id, s.name AS server_name, a.revision, a.created_at,
      a.updated_at, g.issuer, g.scope, g.ended
    FROM accounts AS a JOIN principals AS p ON p.id = a.principal_id JOIN servers AS s ON s.id = a.server_id
    LEFT JOIN account_grants AS g ON g.account_id = a.id)`,
  row: AccountSchema,
};

/** Condition: the column holds the id of one of these records. */
export const whereAmong = (column: string, records: readonly { id: string }[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  params: [JSON.stringify(records.map(({ id }) => id))],
});

const FoundSchema = z.object({ id: z.string() });

/** Finds the id of the account that a principal has at a server; undefined if it has none. */
export async function findAccountId(
  db: D1Database,
  principalId: string,
  serverId: string,
): Promise<string | undefined> {
  const found = await db
    .prepare('SELECT id FROM accounts WHERE principal_id = ? AND server_id = ?')
    .bind(principalId, serverId)
    .first();
  return found === null ? undefined : FoundSchema.parse(found).id;
}

export interface Written {
  id: string;
  principalId: string;
  serverId: string;
  /** The server's address that the token was given for. */
  url: string;
  sealed: string;
  now: number;
}

/** Condition: the principal exists, the server is still at this address, and the account exists (`isKnown`) or does not exist yet. */
export const whenConnectable = (
  { id, principalId, serverId, url }: Written,
  isKnown: boolean,
): Condition => ({
  sql: `EXISTS (SELECT 1 FROM principals WHERE id = ?) AND EXISTS (SELECT 1 FROM servers WHERE id = ? AND url = ?)
    AND ${isKnown ? '' : 'NOT '}EXISTS (SELECT 1 FROM accounts WHERE ${isKnown ? 'id = ?' : 'principal_id = ? AND server_id = ?'})`,
  params: [principalId, serverId, url, ...(isKnown ? [id] : [principalId, serverId])],
});

/** Condition for what belongs to the credential: the account was written with it, so it is false if the write was not possible. */
export const whenWritten = ({ id, sealed }: Pick<Written, 'id' | 'sealed'>): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM accounts WHERE id = ? AND auth_sealed = ?)',
  params: [id, sealed],
});

/** Inserts an account, or replaces its credential. */
export function writeAccount(
  db: D1Database,
  { id, principalId, serverId, sealed, now }: Written,
  isKnown: boolean,
  when: Condition,
): D1PreparedStatement {
  return isKnown
    ? db
        .prepare(
          `UPDATE accounts SET auth_sealed = ?, revision = revision + 1, updated_at = ?, own_lists_of = NULL
           WHERE id = ? AND ${when.sql}`,
        )
        .bind(sealed, now, id, ...when.params)
    : db
        .prepare(
          `INSERT INTO accounts (id, principal_id, server_id, auth_sealed, created_at, updated_at)
           SELECT ?, ?, ?, ?, ?, ? WHERE ${when.sql}`,
        )
        .bind(id, principalId, serverId, sealed, now, now, ...when.params);
}

const HELD = `SELECT ${HELD_ACCOUNT_SQL} AS held
  FROM accounts AS a LEFT JOIN account_grants AS g ON g.account_id = a.id`;
const HeldRowSchema = z.object({ held: jsonOf(HeldAccountSchema) });
const toHeld = (row: unknown): HeldAccount | undefined =>
  row === null ? undefined : HeldRowSchema.parse(row).held;

/** Finds the account of the principal to which a Durable Object belongs, directly or through a session. */
export async function findAccountOf(
  db: D1Database,
  serverId: string,
  whose: { principalId: string } | { sessionId: string },
): Promise<HeldAccount | undefined> {
  const [principal, id] =
    'principalId' in whose
      ? ['?', whose.principalId]
      : ['(SELECT principal_id FROM sessions WHERE id = ?)', whose.sessionId];
  const statement = db.prepare(`${HELD} WHERE a.server_id = ? AND a.principal_id = ${principal}`);
  return toHeld(await statement.bind(serverId, id).first());
}

/** Finds the working account that was connected first at a server. @param but ids of accounts to pass over */
export async function findFirstAccount(
  db: D1Database,
  serverId: string,
  but: readonly string[],
): Promise<HeldAccount | undefined> {
  const statement = db.prepare(
    `${HELD} WHERE a.server_id = ? AND g.ended IS NULL AND a.id NOT IN (SELECT value FROM json_each(?))
     ORDER BY a.created_at, a.id LIMIT 1`,
  );
  return toHeld(await statement.bind(serverId, JSON.stringify(but)).first());
}
