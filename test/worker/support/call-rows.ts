/** The audit rows of calls, read from the database once ended calls were written there. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { AuditEvent, PlacedEvent } from '../../../src/audit/audit-schema.ts';
import { listChain } from '../../../src/audit/audit-store.ts';
import { toEvents } from '../../../src/audit/chunks/call-chunk.ts';
import { listChunks } from '../../../src/audit/chunks/chunk-store.ts';
import { readCalls } from '../../../src/audit/chunks/read-calls.ts';
import type { CallBeginning, CallEnd } from '../../../src/audit/calls/call-schema.ts';
import { createToken, type Portico } from './portico.ts';

/** A caller, with an own shard. */
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

/** The object of a person's calls. */
export const logOf = ({ shard }: Person) => env.AUDIT_LOG.getByName(shard);

/** Rows of a person's ended calls: in the order of their chain, or of their beginning if they were written in chunks. */
export async function rowsOf(portico: Portico, person: Person): Promise<PlacedEvent[]> {
  await portico.settle();
  await logOf(person).keep(person.shard);
  const rows: PlacedEvent[] = await listChain(env.DB, person.shard, 1, 10_000);
  const filter = { principalIds: [person.principalId] };
  return rows.concat((await readCalls(env.DB, filter, 'oldest', 10_000)).calls);
}

/**
 * Rows of a person's calls in chunks, in the order in which these were written. For tests that move the clock of the Worker, but not that
 * of the database: pages are read by time (`readCalls`), which requires chunks to be no older than their calls.
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

/** Calls in a person's object: open ones, and ended ones that the database may lack. */
export function heldCalls(person: Person): Promise<Record<string, unknown>[]> {
  return runInDurableObject(logOf(person), (_log, { storage }) =>
    storage.sql.exec('SELECT * FROM calls').toArray(),
  );
}

/** A call that is about to be sent. */
export const startedOf = (id: string, at = Date.now()) => ({
  id,
  at,
  tokenId: 't',
  action: 'tool.call',
  subject: 'a.echo',
  detail: '{"door":"modern"}',
});
/** The message of a Worker about its beginning. */
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
/** Its end. */
export const endOf = (id: string, outcome: CallEnd['outcome'] = 'done'): CallEnd => ({
  id,
  outcome,
  code: null,
  detail: { duration_ms: 1 },
});
