/**
 * Administrators' decisions on approvals, as statements. Each decision names the fingerprint that the administrator saw, and applies to
 * everything it names or to nothing. The first statement checks the condition and sets a new stamp on the servers; the other statements of
 * the batch apply only where that stamp is set.
 */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf } from '../../records/record-store.ts';
import { parseName } from './approval-store.ts';
import { WAITING } from '../registry/approval.ts';

/** An approval, and the fingerprint that is decided on. */
export interface Decision {
  id: string;
  fingerprint: string;
}

/** Conditions of a decision beyond unchanged fingerprints. */
export interface Demands {
  /** Number of names that were compared because they share a skeleton; the comparison found none that deceives. */
  compared?: number;
  /** Stamp of the one server to which everything belongs. */
  version?: { serverId: string; stamp: string } | undefined;
  /** Approve misleading names too. */
  acceptsQuarantined?: boolean;
}

/** This join order finds each row of `pins` by its key. */
const ITEMS = 'json_each(?) AS item CROSS JOIN pins ON pins.id = item.value ->> 0';
const HELD = `pins.held_fingerprint = item.value ->> 1`;
const WAITING_LIST = WAITING.map(state => `'${state}'`).join(', ');

const toItems = (decisions: readonly Decision[]): string =>
  JSON.stringify(decisions.map(({ id, fingerprint }) => [id, fingerprint]));

/** The server still has the stamp that the administrator saw. */
function whenVersion({ version }: Demands): Condition[] {
  if (!version) return [];
  return [
    {
      sql: 'EXISTS (SELECT 1 FROM servers WHERE id = ? AND pins_stamp = ?)',
      params: [version.serverId, version.stamp],
    },
  ];
}

const IS_NEW = `pins.kind = 'tool' AND pins.approved_fingerprint IS NULL`;
/** New tools with the names of approved tools that share their skeleton. */
const ALIKE = `SELECT DISTINCT pins.name AS name, other.name AS other FROM ${ITEMS} CROSS JOIN pins AS other
  WHERE ${IS_NEW} AND other.skeleton = pins.skeleton AND other.approved_fingerprint IS NOT NULL
    AND other.kind = 'tool' AND other.reason IS NULL AND other.name <> pins.name`;

/** Lists the pairs of names with one skeleton that have to be compared before these decisions. */
export async function listAlike(
  db: D1Database,
  decisions: readonly Decision[],
): Promise<{ name: string; other: string }[]> {
  const { results } = await db.prepare(ALIKE).bind(toItems(decisions)).all();
  return z
    .array(z.object({ name: z.string(), other: z.string() }))
    .parse(results)
    .map(({ name, other }) => ({ name: parseName(name), other: parseName(other) }));
}

/**
 * Condition: each item is held with its fingerprint and, unless quarantined items are accepted, none has a misleading name or one that can
 * be mistaken for an approved name.
 */
export function whenApprovable(decisions: readonly Decision[], demands: Demands): Condition {
  const items = toItems(decisions);
  const plain: Condition[] = [
    {
      sql: `NOT EXISTS (SELECT 1 FROM ${ITEMS} WHERE ${IS_NEW} AND pins.reason IS NOT NULL)`,
      params: [items],
    },
    { sql: `(SELECT count(*) FROM (${ALIKE})) = ?`, params: [items, demands.compared ?? 0] },
  ];
  const isHeld: Condition = {
    sql: `(SELECT count(*) FROM ${ITEMS} WHERE ${HELD}) = ?`,
    params: [items, decisions.length],
  };
  return allOf(isHeld, ...(demands.acceptsQuarantined ? [] : plain), ...whenVersion(demands));
}

/** Condition: each item is held or approved with its fingerprint. */
export function whenRejectable(decisions: readonly Decision[], demands: Demands): Condition {
  const isThere: Condition = {
    sql: `(SELECT count(*) FROM ${ITEMS} WHERE ${HELD}
      OR (pins.state = 'approved' AND pins.approved_fingerprint = item.value ->> 1)) = ?`,
    params: [toItems(decisions), decisions.length],
  };
  return allOf(isThere, ...whenVersion(demands));
}

/** @param stamp a new one */
export function decide(
  db: D1Database,
  verb: 'approve' | 'reject',
  decisions: readonly Decision[],
  when: Condition,
  stamp: string,
  now: number,
): D1PreparedStatement[] {
  const ids = JSON.stringify(decisions.map(({ id }) => id));
  const isMarked = 'server_id IN (SELECT id FROM servers WHERE pins_stamp = ?)';
  return [
    db
      .prepare(
        `UPDATE servers SET pins_stamp = ? WHERE id IN
           (SELECT server_id FROM pins WHERE id IN (SELECT value FROM json_each(?))) AND ${when.sql}`,
      )
      .bind(stamp, ids, ...when.params),
    db
      .prepare(
        `UPDATE pins SET ${SET[verb]}, changed_at = ?
         WHERE id IN (SELECT value FROM json_each(?)) AND ${isMarked}`,
      )
      .bind(now, ids, stamp),
    db
      .prepare(
        `UPDATE servers SET held_tools = (SELECT count(*) FROM pins WHERE server_id = servers.id
           AND kind = 'tool' AND state IN (${WAITING_LIST})) WHERE pins_stamp = ?`,
      )
      .bind(stamp),
  ];
}

/** Changes that a decision makes to an approval. An approved definition may be rejected too; then it is held. */
const SET = {
  approve: `state = 'approved', approved_fingerprint = held_fingerprint, approved_text = held_text,
    rejected_fingerprint = CASE WHEN rejected_fingerprint = held_fingerprint THEN NULL ELSE rejected_fingerprint END,
    held_fingerprint = NULL, held_text = NULL`,
  reject: `state = 'rejected', rejected_fingerprint = coalesce(held_fingerprint, approved_fingerprint),
    held_fingerprint = coalesce(held_fingerprint, approved_fingerprint),
    held_text = CASE WHEN held_fingerprint IS NULL THEN approved_text ELSE held_text END,
    approved_text = CASE WHEN state = 'approved' THEN NULL ELSE approved_text END,
    approved_fingerprint = CASE WHEN state = 'approved' THEN NULL ELSE approved_fingerprint END`,
};
