/**
 * The table `pins`, as a server's monitor reads and writes it. A write names the stamp that it read and sets a new one, so it is applied to
 * exactly the state that it was computed from, or not at all. The statements of one write belong in one batch, with the claim first.
 */
import { z } from 'zod';
import { toChunks } from '../../shared/util/chunks.ts';
import type { Neighbour, ApprovalChange } from './judge.ts';
import {
  APPROVAL_KINDS,
  APPROVAL_STATES,
  ReasonSchema,
  type ApprovalRecord,
} from '../registry/approval.ts';

/** Columns of an approval without its definitions. */
export const APPROVAL_SHAPE = {
  id: z.string(),
  kind: z.enum(APPROVAL_KINDS),
  name: z.string(),
  skeleton: z.string(),
  state: z.enum(APPROVAL_STATES),
  approved_fingerprint: z.string().nullable(),
  held_fingerprint: z.string().nullable(),
  rejected_fingerprint: z.string().nullable(),
  reason: z.string().nullable(),
  first_seen_at: z.number(),
  changed_at: z.number(),
};
export const APPROVAL_COLUMNS = Object.keys(APPROVAL_SHAPE)
  .map(column => `pins.${column}`)
  .join(', ');

const RowSchema = z.object(APPROVAL_SHAPE);

export function toApprovalRecord(row: z.infer<typeof RowSchema>): ApprovalRecord {
  return {
    id: row.id,
    kind: row.kind,
    name: parseName(row.name),
    skeleton: row.skeleton,
    state: row.state,
    approvedFingerprint: row.approved_fingerprint,
    heldFingerprint: row.held_fingerprint,
    rejectedFingerprint: row.rejected_fingerprint,
    reason: row.reason === null ? null : ReasonSchema.parse(JSON.parse(row.reason)),
    firstSeenAt: row.first_seen_at,
    changedAt: row.changed_at,
  };
}

/** Names are stored as JSON, since they may contain characters that a text column cannot hold. */
export const parseName = (text: string): string => JSON.parse(text) as string;

/** The approvals of a server, and the values that a write of them has to name. */
export interface KnownApprovals {
  approvals: ApprovalRecord[];
  stamp: string | null;
  generation: number;
}

/** Undefined if the server does not exist. */
export async function loadApprovals(
  db: D1Database,
  serverId: string,
): Promise<KnownApprovals | undefined> {
  const [servers, rows] = await db.batch([
    db.prepare('SELECT pins_stamp AS stamp, generation FROM servers WHERE id = ?').bind(serverId),
    db.prepare(`SELECT ${APPROVAL_COLUMNS} FROM pins WHERE server_id = ?`).bind(serverId),
  ]);
  const [server] = z
    .array(z.object({ stamp: z.string().nullable(), generation: z.number() }))
    .parse(servers?.results ?? []);
  const approvals = z.array(RowSchema).parse(rows?.results ?? []);
  return server && { ...server, approvals: approvals.map(toApprovalRecord) };
}

/** A name that many servers have appears once. */
const NEIGHBOURS = `SELECT min(server_id) AS server_id, name, skeleton FROM pins WHERE skeleton IN (SELECT value FROM json_each(?))
  AND approved_fingerprint IS NOT NULL AND reason IS NULL AND kind = 'tool' AND server_id <> ? GROUP BY skeleton, name`;

/** Finds approved tools of other servers with one of these skeletons; tools with misleading names are left out. */
export async function findNeighbours(
  db: D1Database,
  serverId: string,
  skeletons: readonly string[],
): Promise<Neighbour[]> {
  if (skeletons.length === 0) return [];
  const { results } = await db.prepare(NEIGHBOURS).bind(JSON.stringify(skeletons), serverId).all();
  return parseNeighbours(results);
}

function parseNeighbours(rows: readonly unknown[]): Neighbour[] {
  return z
    .array(z.object({ server_id: z.string(), name: z.string(), skeleton: z.string() }))
    .parse(rows)
    .map(row => ({ serverId: row.server_id, name: parseName(row.name), skeleton: row.skeleton }));
}

/** Finds approved tools by pairs of server and skeleton. */
export async function findApproved(
  db: D1Database,
  pairs: readonly (readonly [serverId: string, skeleton: string])[],
): Promise<Neighbour[]> {
  if (pairs.length === 0) return [];
  const { results } = await db
    .prepare(
      `SELECT server_id, name, skeleton FROM json_each(?) AS pair CROSS JOIN pins
         ON server_id = pair.value ->> 0 AND skeleton = pair.value ->> 1
       WHERE approved_fingerprint IS NOT NULL AND kind = 'tool'`,
    )
    .bind(JSON.stringify(pairs))
    .all();
  return parseNeighbours(results);
}

/** The state that a write of approvals was computed from, and its new values. */
export interface Claim {
  serverId: string;
  generation: number;
  stamp: string | null;
  /** The new stamp; the other statements of the batch refer to it. */
  nextStamp: string;
  skeletons: readonly string[];
  neighbours: number;
  heldTools: number;
}

/** First statement of a write: sets the new stamp if everything is still as it was read. */
export function claimApprovals(db: D1Database, claim: Claim): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET pins_stamp = ?, held_tools = ?
       WHERE id = ? AND generation = ? AND pins_stamp IS ? AND (SELECT count(*) FROM (${NEIGHBOURS})) = ?`,
    )
    .bind(
      claim.nextStamp,
      claim.heldTools,
      claim.serverId,
      claim.generation,
      claim.stamp,
      JSON.stringify(claim.skeletons),
      claim.serverId,
      claim.neighbours,
    );
}

const IS_CLAIMED = 'EXISTS (SELECT 1 FROM servers WHERE id = ? AND pins_stamp = ?)';

/**
 * The other statements of a write: upserts the changed approvals and deletes the forgotten ones. A stored text stays while its fingerprint
 * is unchanged.
 */
export function writeApprovals(
  db: D1Database,
  { serverId, nextStamp }: Claim,
  changes: readonly ApprovalChange[],
  forgotten: readonly string[],
  now: number,
): D1PreparedStatement[] {
  const upsert = db.prepare(
    `INSERT INTO pins (server_id, first_seen_at, changed_at, id, kind, name, skeleton, state,
       approved_fingerprint, approved_text, held_fingerprint, held_text, rejected_fingerprint, reason)
     SELECT ?, ?, ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
       value ->> 7, value ->> 8, value ->> 9, value ->> 10 FROM json_each(?) WHERE ${IS_CLAIMED}
     ON CONFLICT (id) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at, reason = excluded.reason,
       approved_text = CASE WHEN excluded.approved_fingerprint IS approved_fingerprint
         THEN approved_text ELSE excluded.approved_text END,
       held_text = CASE WHEN excluded.held_fingerprint IS held_fingerprint THEN held_text ELSE excluded.held_text END,
       approved_fingerprint = excluded.approved_fingerprint, held_fingerprint = excluded.held_fingerprint`,
  );
  const writes = toChunks(changes.map(toCells)).map(chunk =>
    upsert.bind(serverId, now, now, `[${chunk.join(',')}]`, serverId, nextStamp),
  );
  if (forgotten.length === 0) return writes;
  const forget = db
    .prepare(`DELETE FROM pins WHERE id IN (SELECT value FROM json_each(?)) AND ${IS_CLAIMED}`)
    .bind(JSON.stringify(forgotten), serverId, nextStamp);
  return [...writes, forget];
}

const toCells = (change: ApprovalChange): string =>
  JSON.stringify([
    change.id,
    change.kind,
    JSON.stringify(change.name),
    change.skeleton,
    change.state,
    change.approvedFingerprint,
    change.approvedText,
    change.heldFingerprint,
    change.heldText,
    change.rejectedFingerprint,
    change.reason && JSON.stringify(change.reason),
  ]);
