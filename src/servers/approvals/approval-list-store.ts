/** Approvals for administrators: pages ordered by most recent change, and single approvals with their definitions. */
import { z } from 'zod';
import type { ApprovalRecord, ApprovalKind, ApprovalState } from '../registry/approval.ts';
import { APPROVAL_COLUMNS, APPROVAL_SHAPE, toApprovalRecord } from './approval-store.ts';

/** An approval with the server that it belongs to. */
export interface ListedApproval extends ApprovalRecord {
  serverId: string;
  serverName: string;
}

/** An approval with its definitions, as raw JSON; null if there is none, or if it is too long to be kept. */
export interface WholeApproval extends ListedApproval {
  approvedText: string | null;
  heldText: string | null;
}

/** Filter for approvals; an absent field matches every approval. */
export interface ApprovalFilter {
  serverId?: string | undefined;
  serverIds?: readonly string[] | undefined;
  states?: readonly ApprovalState[] | undefined;
  kind?: ApprovalKind | undefined;
}

const RowSchema = z
  .object({ ...APPROVAL_SHAPE, server_id: z.string(), server_name: z.string() })
  .transform((row): ListedApproval => ({
    ...toApprovalRecord(row),
    serverId: row.server_id,
    serverName: row.server_name,
  }));

const FROM = 'FROM pins JOIN servers ON servers.id = pins.server_id';
const SELECT = `SELECT ${APPROVAL_COLUMNS}, pins.server_id, servers.name AS server_name`;
const MATCHES = `(?1 IS NULL OR pins.server_id = ?1) AND (?2 IS NULL OR pins.kind = ?2)
  AND (?3 IS NULL OR pins.state IN (SELECT value FROM json_each(?3)))
  AND (?4 IS NULL OR pins.server_id IN (SELECT value FROM json_each(?4)))`;

const toParams = ({ serverId, states, kind, serverIds }: ApprovalFilter) => [
  serverId ?? null,
  kind ?? null,
  states ? JSON.stringify(states) : null,
  serverIds ? JSON.stringify(serverIds) : null,
];

/** Last row of a page. */
export interface ApprovalPosition {
  changedAt: number;
  id: string;
}

export function selectApprovalPage(
  db: D1Database,
  filter: ApprovalFilter,
  after: ApprovalPosition | undefined,
  limit: number,
): D1PreparedStatement {
  return db
    .prepare(
      `${SELECT} ${FROM} WHERE ${MATCHES} AND (?5 IS NULL OR pins.changed_at < ?5 OR (pins.changed_at = ?5 AND pins.id > ?6))
       ORDER BY pins.changed_at DESC, pins.id LIMIT ?7`,
    )
    .bind(...toParams(filter), after?.changedAt ?? null, after?.id ?? null, limit);
}

export function parseApprovals(rows: readonly unknown[]): ListedApproval[] {
  return rows.map(row => RowSchema.parse(row));
}

/** Counts the matching approvals; a row for `parseTotal`. */
export function selectApprovalTotal(db: D1Database, filter: ApprovalFilter): D1PreparedStatement {
  return db.prepare(`SELECT count(*) AS total ${FROM} WHERE ${MATCHES}`).bind(...toParams(filter));
}

/** Selects the stamp of a server's approvals; no row if the server does not exist. */
export function selectStamp(db: D1Database, serverId: string): D1PreparedStatement {
  return db.prepare('SELECT pins_stamp AS stamp FROM servers WHERE id = ?').bind(serverId);
}

/** Null if nothing of the server was judged yet, undefined if the server does not exist. */
export function parseStamp(rows: readonly unknown[]): string | null | undefined {
  return z.array(z.object({ stamp: z.string().nullable() })).parse(rows)[0]?.stamp;
}

/** Finds approvals by id, unordered. */
export async function findApprovals(
  db: D1Database,
  ids: readonly string[],
): Promise<ListedApproval[]> {
  const { results } = await db
    .prepare(`${SELECT} ${FROM} WHERE pins.id IN (SELECT value FROM json_each(?))`)
    .bind(JSON.stringify(ids))
    .all();
  return parseApprovals(results);
}

/** Finds one approval with its definitions. */
export async function findWholeApproval(
  db: D1Database,
  id: string,
): Promise<WholeApproval | undefined> {
  const row = await db
    .prepare(`${SELECT}, pins.approved_text, pins.held_text ${FROM} WHERE pins.id = ?`)
    .bind(id)
    .first();
  if (row === null) return undefined;
  const texts = z.object({
    approved_text: z.string().nullable(),
    held_text: z.string().nullable(),
  });
  const { approved_text: approvedText, held_text: heldText } = texts.parse(row);
  return { ...RowSchema.parse(row), approvedText, heldText };
}
