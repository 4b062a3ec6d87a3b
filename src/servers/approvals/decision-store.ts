/**
 * Decisions of administrators on approvals, as statements: each names the fingerprint that was looked at, and is made on all it names or on
 * none. The mark comes first and moves the stamp of the servers; the other statements of the batch follow that stamp.
 */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { parseName } from './approval-store.ts';
import { WAITING } from '../registry/approval.ts';

/** An approval, and the fingerprint that is decided on. */
export interface Decision {
  id: string;
  fingerprint: string;
}

/** What has to be true beside that nothing changed. */
export interface Demands {
  /** How many names of one skeleton there were to compare with, where those deceive nobody. */
  compared?: number;
  /** The stamp of the one server that all of it belongs to. */
  version?: { serverId: string; stamp: string } | undefined;
  /** Names that mislead are approved too. */
  acceptsQuarantined?: boolean;
}

/** In this order, so that each is found by its key. */
const ITEMS = 'json_each(?) AS item CROSS JOIN pins ON pins.id = item.value ->> 0';
const HELD = `pins.held_fingerprint = item.value ->> 1`;
const WAITING_LIST = WAITING.map(state => `'${state}'`).join(', ');

const toItems = (decisions: readonly Decision[]): string =>
  JSON.stringify(decisions.map(({ id, fingerprint }) => [id, fingerprint]));

/** The server is still at the stamp that was looked at. */
function whenVersion({ version }: Demands): Condition[] {
  if (!version) return [];
  return [
    {
      sql: 'EXISTS (SELECT 1 FROM servers WHERE id = ? AND pins_stamp = ?)',
      params: [version.serverId, version.stamp],
    },
  ];
}

const all = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => `(${sql})`).join(' AND '),
  params: conditions.flatMap(({ params }) => params),
});

const IS_NEW = `pins.kind = 'tool' AND pins.approved_fingerprint IS NULL`;
/** New tools with the names of approved ones that have their skeleton. */
const ALIKE = `SELECT DISTINCT pins.name AS name, other.name AS other FROM ${ITEMS} CROSS JOIN pins AS other
  WHERE ${IS_NEW} AND other.skeleton = pins.skeleton AND other.approved_fingerprint IS NOT NULL
    AND other.kind = 'tool' AND other.reason IS NULL AND other.name <> pins.name`;

/** What the tools that are decided on have to be compared with: pairs of names with one skeleton. */
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

/** Each is held with its fingerprint; unless that is accepted, none has a name that misleads or can be taken for an approved one. */
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
  return all([isHeld, ...(demands.acceptsQuarantined ? [] : plain), ...whenVersion(demands)]);
}

/** Each is held, or approved, with its fingerprint. */
export function whenRejectable(decisions: readonly Decision[], demands: Demands): Condition {
  const isThere: Condition = {
    sql: `(SELECT count(*) FROM ${ITEMS} WHERE ${HELD}
      OR (pins.state = 'approved' AND pins.approved_fingerprint = item.value ->> 1)) = ?`,
    params: [toItems(decisions), decisions.length],
  };
  return all([isThere, ...whenVersion(demands)]);
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

/** What a decision makes of an approval. What is approved may be rejected too: then it is held. */
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
