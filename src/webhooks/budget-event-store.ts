/** Writes the event that a budget was reached: once a day for each webhook that subscribes to it. */
import { dayOf } from '../shared/util/utc-day.ts';
import { GIVE_UP_MS } from './pace.ts';

const INSERT = `INSERT INTO webhook_deliveries (webhook_id, type, subject, cause, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'budget.reached', ?1, ?2,
    CASE ?3 WHEN 'group' THEN json_object('group', json_object('name', ?1), 'calls_per_day', ?4)
      ELSE json_object('principal', json_object('id', ?1, 'name',
        coalesce((SELECT name FROM principals WHERE id = ?1), ?1)), 'calls_per_day', ?4) END, ?5, ?5, ?6
  FROM webhooks AS w
  WHERE w.is_enabled = 1 AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'budget.reached')
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.cause = ?2 AND d.webhook_id = w.id)`;

/** @param name of the object that counts: `budget:{kind}:{subject}` */
export async function insertBudgetReached(
  db: D1Database,
  name: string,
  callsPerDay: number,
  now: number,
): Promise<void> {
  const [prefix = '', kind = ''] = name.split(':', 2);
  const subject = name.slice(prefix.length + kind.length + 2);
  const cause = `${name} ${dayOf(now)}`;
  await db
    .prepare(INSERT)
    .bind(subject, cause, kind, callsPerDay, now, now + GIVE_UP_MS)
    .run();
}
