/** Calls and chunks of them that were written at a given time. */
import { env } from 'cloudflare:workers';
import type { AuditEvent } from '../../../src/audit/audit-schema.ts';
import { toCallChunk, type CallChunk } from '../../../src/audit/chunks/call-chunk.ts';
import { addUpPart } from '../../../src/audit/usage/usage-roll-up.ts';
import { toTimeId } from '../../../src/shared/util/time-id.ts';

/** A call that began at this time. */
export const toCall = (at: number, more: Partial<AuditEvent> = {}): AuditEvent => ({
  id: toTimeId(at),
  at,
  principalId: 'ada',
  tokenId: 't1',
  action: 'tool.call',
  subject: 'git.push',
  outcome: 'done',
  code: null,
  detail: { door: 'modern', duration_ms: 3 },
  ...more,
});

/** Inserts a chunk as written at a past time. @param isOfEnded whether it summarizes how its calls ended */
export async function insertOld(
  at: number,
  calls: readonly AuditEvent[],
  isOfEnded = false,
): Promise<CallChunk> {
  const chunk = await toCallChunk(toTimeId(at), calls, isOfEnded);
  const { id, fromAt, toAt, keys, hash, body } = chunk;
  await env.DB.prepare('INSERT INTO call_chunks VALUES (?, ?, ?, ?, ?, ?, ?)')
    .bind(id, fromAt, toAt, calls.length, keys, hash, body)
    .run();
  return chunk;
}

/** Adds up everything. @throws Error if the database cannot be read or written */
export async function addUpAll(db: D1Database = env.DB): Promise<void> {
  while (await addUpPart(db, '~')) continue;
}
