/**
 * The `webhook_deliveries` table. Triggers write its rows in the same statement as their cause (`migrations/0043_webhooks.sql`). The head
 * of a subject is its first pending event; only heads are sent, so that a subject's events arrive in order.
 */
import { z } from 'zod';
import type { Condition } from '../audit/audit-store.ts';
import { toListPage, type ListPage } from '../shared/util/page.ts';
import {
  StoredDeliverySchema,
  type DeliveryState,
  type StoredDelivery,
} from './delivery-schema.ts';
import { StoredWebhookSchema } from './webhook-schema.ts';

const DueSchema = StoredDeliverySchema.extend({
  webhook: StoredWebhookSchema.pick({ id: true, origin: true, sealed: true, format: true }),
});
/** A due delivery with its webhook. */
export type Due = z.infer<typeof DueSchema>;

const HEADS = `webhook_deliveries AS d JOIN webhooks AS w ON w.id = d.webhook_id
  WHERE d.state = 'pending' AND w.is_enabled = 1 AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS e
    WHERE e.webhook_id = d.webhook_id AND e.subject = d.subject AND e.state = 'pending' AND e.seq < d.seq)`;

/** Finds the heads that are due. @param limits most in total, and most per webhook */
export async function findDue(
  db: D1Database,
  now: number,
  limits: { all: number; ofWebhook: number },
): Promise<Due[]> {
  const { results } = await db
    .prepare(
      `SELECT * FROM (SELECT d.*, w.origin, w.sealed, w.format,
         row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.next_at, d.seq) AS place
         FROM ${HEADS} AND d.next_at <= ?) WHERE place <= ? ORDER BY next_at, seq LIMIT ?`,
    )
    .bind(now, limits.ofWebhook, limits.all)
    .all();
  return results.map(toDue);
}

function toDue(row: Record<string, unknown>): Due {
  const { origin, sealed, format, webhook_id: id } = row;
  return DueSchema.parse({ ...row, webhook: { id, origin, sealed, format } });
}

/** Finds a delivery with its webhook as both are now; undefined if it is not to be sent. */
export async function findStillDue(db: D1Database, seq: number): Promise<Due | undefined> {
  const row = await db
    .prepare(`SELECT d.*, w.origin, w.sealed, w.format FROM ${HEADS} AND d.seq = ?`)
    .bind(seq)
    .first();
  return row === null ? undefined : toDue(row);
}

/** Returns when the next head is due; undefined where none is pending. */
export async function findNextAt(db: D1Database): Promise<number | undefined> {
  const row = await db.prepare(`SELECT min(d.next_at) AS at FROM ${HEADS}`).first();
  return z.object({ at: z.number().nullable() }).parse(row).at ?? undefined;
}

/** Tells whether a head is due by a time. */
export async function hasDue(db: D1Database, at: number): Promise<boolean> {
  const row = await db
    .prepare(`SELECT 1 FROM ${HEADS} AND d.next_at <= ? LIMIT 1`)
    .bind(at)
    .first();
  return row !== null;
}

/** The state of a delivery after an attempt. */
export type Outcome = Pick<
  StoredDelivery,
  'state' | 'attempts' | 'next_at' | 'status' | 'problem' | 'ended_at'
>;

/** Records an attempt. */
export function updateDelivery(
  db: D1Database,
  seq: number,
  { state, attempts, next_at: nextAt, status, problem, ended_at: endedAt }: Outcome,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE webhook_deliveries SET state = ?, attempts = ?, next_at = ?, status = ?, problem = ?, ended_at = ?
       WHERE seq = ?`,
    )
    .bind(state, attempts, nextAt, status, problem, endedAt, seq);
}

/** Deletes deliveries that ended before a time, and per webhook all but the last `kept` that ended. */
export function pruneDeliveries(
  db: D1Database,
  before: number,
  webhookIds: readonly string[],
  kept: number,
): D1PreparedStatement[] {
  const old = db.prepare('DELETE FROM webhook_deliveries WHERE ended_at < ?').bind(before);
  const many = db.prepare(
    `DELETE FROM webhook_deliveries WHERE webhook_id = ?1 AND state <> 'pending' AND seq <=
       (SELECT seq FROM webhook_deliveries WHERE webhook_id = ?1 AND state <> 'pending'
        ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
  );
  return [old, ...webhookIds.map(id => many.bind(id, kept))];
}

/** Lists one page of a webhook's deliveries, newest first. */
export async function listDeliveries(
  db: D1Database,
  webhookId: string,
  state: DeliveryState | undefined,
  limit: number,
  before = Number.MAX_SAFE_INTEGER,
): Promise<ListPage<StoredDelivery> & { total: number }> {
  const where = `webhook_id = ?1 AND (?2 IS NULL OR state = ?2)`;
  const [page, total] = await db.batch([
    db
      .prepare(
        `SELECT * FROM webhook_deliveries WHERE ${where} AND seq < ?3 ORDER BY seq DESC LIMIT ?4`,
      )
      .bind(webhookId, state ?? null, before, limit + 1),
    db
      .prepare(`SELECT count(*) AS n FROM webhook_deliveries WHERE ${where}`)
      .bind(webhookId, state ?? null),
  ]);
  const rows = z.array(StoredDeliverySchema).parse(page?.results ?? []);
  const { n } = z.object({ n: z.number() }).parse(total?.results[0]);
  return { ...toListPage(rows, limit, ({ seq }) => [seq]), total: n };
}

/** Returns a delivery of a webhook, or undefined. */
export async function findDelivery(
  db: D1Database,
  webhookId: string,
  id: string,
): Promise<StoredDelivery | undefined> {
  const row = await db
    .prepare('SELECT * FROM webhook_deliveries WHERE webhook_id = ? AND id = ?')
    .bind(webhookId, id)
    .first();
  return row === null ? undefined : StoredDeliverySchema.parse(row);
}

/** Holds where the delivery was given up. */
export const whenDead = (webhookId: string, id: string): Condition => ({
  sql: `EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook_id = ? AND id = ? AND state = 'dead')`,
  params: [webhookId, id],
});

/** Makes a delivery that was given up pending again; it goes before later pending ones of its subject. */
export function reviveDelivery(
  db: D1Database,
  webhookId: string,
  id: string,
  times: { now: number; giveUpAt: number },
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE webhook_deliveries SET state = 'pending', attempts = 0, next_at = ?, give_up_at = ?, ended_at = NULL
       WHERE webhook_id = ? AND id = ? AND state = 'dead'`,
    )
    .bind(times.now, times.giveUpAt, webhookId, id);
}
