/** The audit rows of calls, as the database has them once what has ended was brought there. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { AuditEvent, PlacedEvent } from '../../../src/audit/audit-schema.ts';
import { listChain } from '../../../src/audit/audit-store.ts';
import { toEvents } from '../../../src/audit/chunks/call-chunk.ts';
import { listChunks } from '../../../src/audit/chunks/chunk-store.ts';
import { readCalls } from '../../../src/audit/chunks/read-calls.ts';
import type { CallBeginning, CallEnd } from '../../../src/audit/calls/call-schema.ts';
import { createToken, type Portico } from './portico.ts';

/** Somebody who calls, with a shard of their own. */
export interface Person {
  token: string;
  principalId: string;
  shard: string;
}

export async function createPerson(portico: Portico, more: object = {}): Promise<Person> {
  const { id, token } = await createToken(portico, more);
  const row = await env.DB.prepare('SELECT principal_id FROM tokens WHERE id = ?').bind(id).first();
  const principalId = String(row?.['principal_id']);
  return { token, principalId, shard: `calls:${principalId}` };
}

/** The object of somebody's calls. */
export const logOf = ({ shard }: Person) => env.AUDIT_LOG.getByName(shard);

/** Rows of somebody's calls that have ended: in the order of their chain, or of their beginning where they were handed over in chunks. */
export async function rowsOf(portico: Portico, person: Person): Promise<PlacedEvent[]> {
  await portico.settle();
  await logOf(person).keep(person.shard);
  const rows: PlacedEvent[] = await listChain(env.DB, person.shard, 1, 10_000);
  const filter = { principalIds: [person.principalId] };
  return rows.concat(await readCalls(env.DB, filter, 'oldest', 10_000));
}

/**
 * Rows of somebody's calls in chunks, in the order in which those were written. For tests that move the clock of the Worker, and not
 * that of the database: pages are read by time (`readCalls`), and need no chunk to be older than its calls.
 */
export async function chunkedRowsOf(
  portico: Portico,
  { principalId }: Person,
): Promise<AuditEvent[]> {
  await portico.settle();
  const all = { fromId: '', beforeId: '~', since: 0, until: 2 ** 48 };
  const filter = { principalIds: [principalId] };
  const chunks = await listChunks(env.DB, all, filter, 'oldest', 1_000);
  const events = (await Promise.all(chunks.map(toEvents))).flat();
  return events.filter(event => event.principalId === principalId);
}

/** Calls in somebody's object: open ones, and ended ones the database may not have. */
export function heldCalls(person: Person): Promise<Record<string, unknown>[]> {
  return runInDurableObject(logOf(person), (_log, { storage }) =>
    storage.sql.exec('SELECT * FROM calls').toArray(),
  );
}

/** A call that is about to leave. */
export const startedOf = (id: string, at = Date.now()) => ({
  id,
  at,
  tokenId: 't',
  action: 'tool.call',
  subject: 'a.echo',
  detail: '{"door":"modern"}',
});
/** What a Worker tells of it. */
export const beginningOf = (
  { principalId }: Person,
  id: string,
  more: Partial<CallBeginning> = {},
) => ({
  principalId,
  call: startedOf(id),
  limits: [],
  ended: [],
  ...more,
});
/** How it ended. */
export const endOf = (id: string, outcome: CallEnd['outcome'] = 'done'): CallEnd => ({
  id,
  outcome,
  code: null,
  detail: { duration_ms: 1 },
});
