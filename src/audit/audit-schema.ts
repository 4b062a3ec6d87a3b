/** Audit events: one row for each call and each administrative act, and the chains that rows form. Pure but for the hash function. */
import { z } from 'zod';
import { sha256Hex } from '../shared/crypto/base64url.ts';
import type { JsonObject } from '../shared/protocol.ts';

/** An act has one of the first three outcomes. A call may also be cancelled by its client, or its outcome may be unknown. */
export const AuditOutcomeSchema = z.enum(['done', 'denied', 'failed', 'cancelled', 'unknown']);
export type AuditOutcome = z.infer<typeof AuditOutcomeSchema>;

/** A row without its place in a chain. */
export interface AuditEvent {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  principalId: string;
  tokenId: string;
  /** Noun and verb: `server.create`, `tool.call`. */
  action: string;
  /** Id of the subject, or its name if it has no id; for a call, the qualified name. */
  subject: string;
  outcome: AuditOutcome;
  /** Error code, if it was not done. */
  code: string | null;
  /** What changed, or the arguments of the call. Never contains a secret. */
  detail: JsonObject;
}

/** A row with its place: its shard, and its number there from 1 on. */
export interface ChainedEvent extends AuditEvent {
  shard: string;
  seq: number;
  previousHash: string;
  hash: string;
}

/** The shard of calls that are stored in chunks. */
export const CALLS_SHARD = 'calls';

/** A row as it is read. For a call in a chunk, `seq` is its place in the chunk and `hash` the chunk's hash. */
export interface PlacedEvent extends ChainedEvent {
  /** Id of the chunk. */
  chunk?: string;
}

/** Calls of clients, or acts of administrators and people. */
export const AuditKindSchema = z.enum(['calls', 'acts']);

/** Selects the rows of one caller, who does not administer the whole deployment. */
export interface OwnRows {
  principalId: string;
  /** The caller's own token: rows of what was done with it are included. */
  tokenId: string;
  /** If set, calls by the principal's other tokens are included, except by these; undefined: none. */
  callsBut?: readonly string[];
}

/** Selects events; an absent member does not restrict. */
export interface AuditFilter {
  own?: OwnRows | undefined;
  kind?: z.infer<typeof AuditKindSchema> | undefined;
  /** Any of these. */
  principalIds?: readonly string[] | undefined;
  tokenIds?: readonly string[] | undefined;
  action?: string | undefined;
  subjects?: readonly string[] | undefined;
  /** Acts on these servers, by id, and calls of their items, by the server's name. */
  ofServers?: { ids: readonly string[]; names: readonly string[] } | undefined;
  subjectPrefix?: string | undefined;
  outcome?: AuditOutcome | undefined;
  /** Milliseconds since the epoch; `since` is inclusive, `until` exclusive. */
  since?: number | undefined;
  until?: number | undefined;
}

/** Where a page of events ended. */
export type AuditPosition = readonly [at: number, shard: string, seq: number];

export type AuditOrder = 'newest' | 'oldest';

/** The current end of a chain. */
export interface ChainHead {
  seq: number;
  hash: string;
}

/** The head of a shard without rows. */
export const GENESIS: ChainHead = { seq: 0, hash: '0'.repeat(64) };

/**
 * Appends an event to the head of its shard. The subject is made well-formed, as UTF-8 stores it, so that the row
 * hashes the same when read again.
 */
export async function chain(
  shard: string,
  head: ChainHead,
  event: AuditEvent,
): Promise<ChainedEvent> {
  const subject = event.subject.toWellFormed();
  const placed = { ...event, subject, shard, seq: head.seq + 1, previousHash: head.hash };
  return { ...placed, hash: await eventHash(placed) };
}

/** Returns the SHA-256 over every column of a row except the hash itself, in this order, as a JSON array. */
export function eventHash(event: Omit<ChainedEvent, 'hash'>): Promise<string> {
  return sha256Hex(
    JSON.stringify([
      event.previousHash,
      event.shard,
      event.seq,
      event.id,
      event.at,
      event.principalId,
      event.tokenId,
      event.action,
      event.subject,
      event.outcome,
      event.code,
      event.detail,
    ]),
  );
}
