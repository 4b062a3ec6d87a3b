/** The `webhooks` table. Reads return parsed rows; writes return statements. */
import type { EditedTable } from '../records/record-store.ts';
import { StoredWebhookSchema, type StoredWebhook } from './webhook-schema.ts';

/** Most webhooks of a deployment; each event is written once for each of them. */
export const MAX_WEBHOOKS = 20;

const countOf = (state: 'pending' | 'dead') =>
  `(SELECT count(*) FROM webhook_deliveries WHERE webhook_id = w.id AND state = '${state}') AS ${state}`;

export const WEBHOOKS: EditedTable<StoredWebhook> = {
  name: 'webhooks',
  source: `(SELECT w.*, ${countOf('pending')}, ${countOf('dead')} FROM webhooks AS w)`,
  row: StoredWebhookSchema,
  computed: ['pending', 'dead'],
  isByName: true,
  hasNameAsKey: true,
  edited: [
    'name',
    'origin',
    'sealed',
    'format',
    'events',
    'is_enabled',
    'denials_over',
    'updated_at',
  ],
  /** No webhook has this name, ignoring case, and there is room for another. */
  whenPossible: ({ name }) => ({
    sql: `NOT EXISTS (SELECT 1 FROM webhooks WHERE name = ? COLLATE NOCASE)
      AND (SELECT count(*) FROM webhooks) < ${MAX_WEBHOOKS}`,
    params: [name],
  }),
  whenEditable: ({ id, name }) => ({
    sql: 'NOT EXISTS (SELECT 1 FROM webhooks WHERE name = ? COLLATE NOCASE AND id <> ?)',
    params: [name, id],
  }),
};

/** Tells whether any webhook is enabled; reads one row. */
export async function hasWebhooks(db: D1Database): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM webhooks WHERE is_enabled = 1 LIMIT 1').first()) !== null;
}
