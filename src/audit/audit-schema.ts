/** Audit events: one row for each call and each administrative act, and the chains they form. Pure but for the hash function. */
import { z } from 'zod';
import { sha256Hex } from '../shared/crypto/base64url.ts';
import type { JsonObject } from '../shared/protocol.ts';

/** Acts end in one of the first three; a call may be cancelled by its client too, or nobody knows how it ended. */
export const AuditOutcomeSchema = z.enum(['done', 'denied', 'failed', 'cancelled', 'unknown']);
export type AuditOutcome = z.infer<typeof AuditOutcomeSchema>;

/** A row without its place in the chain. */
export interface AuditEvent {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  principalId: string;
  tokenId: string;
  /** Noun and verb: `server.create`, `tool.call`. */
  action: string;
  /** Id of what was acted on, or the name where it has no id: of a call, the qualified name. */
  subject: string;
  outcome: AuditOutcome;
  /** Error code where it was not done. */
  code: string | null;
  /** What changed, or was called with what. Never holds a secret. */
  detail: JsonObject;
}

/** A row in its place: the shard it belongs to and its number there, from 1 on. */
export interface ChainedEvent extends AuditEvent {
  shard: string;
  seq: number;
  previousHash: string;
  hash: string;
}

/** The shard of calls that were handed over in chunks. */
export const CALLS_SHARD = 'calls';

/** A row as it is read: of a chunk, `seq` is its place there, and the hash is that of the chunk. */
export interface PlacedEvent extends ChainedEvent {
  /** Id of the chunk. */
  chunk?: string;
}

/** Calls of clients, or acts of administrators and people. */
export const AuditKindSchema = z.enum(['calls', 'acts']);

/** The rows that somebody sees who does not administer the whole deployment. */
export interface OwnRows {
  principalId: string;
  /** What they ask with: what was done by it. */
  tokenId: string;
  /** Calls by other tokens of theirs too, but for these; undefined: none. */
  callsBut?: readonly string[];
}

/** Which events; what is absent lets every one through. */
export interface AuditFilter {
  own?: OwnRows | undefined;
  kind?: z.infer<typeof AuditKindSchema> | undefined;
  /** Any of them. */
  principalIds?: readonly string[] | undefined;
  tokenIds?: readonly string[] | undefined;
  action?: string | undefined;
  subjects?: readonly string[] | undefined;
  /** What was done to servers, by their ids, and what was called of them, by their names. */
  ofServers?: { ids: readonly string[]; names: readonly string[] } | undefined;
  /** What the subject begins with. */
  subjectPrefix?: string | undefined;
  outcome?: AuditOutcome | undefined;
  /** Milliseconds since the epoch; from then on, and before then. */
  since?: number | undefined;
  until?: number | undefined;
}

/** Where a page of events ended. */
export type AuditPosition = readonly [at: number, shard: string, seq: number];

export type AuditOrder = 'newest' | 'oldest';

/** Where a chain ends now. */
export interface ChainHead {
  seq: number;
  hash: string;
}

/** The head of a shard without rows. */
export const GENESIS: ChainHead = { seq: 0, hash: '0'.repeat(64) };

/** Put an event behind the head of its shard, with its subject as UTF-8 keeps it: what is read again has to have the hash. */
export async function chain(
  shard: string,
  head: ChainHead,
  event: AuditEvent,
): Promise<ChainedEvent> {
  const subject = event.subject.toWellFormed();
  const placed = { ...event, subject, shard, seq: head.seq + 1, previousHash: head.hash };
  return { ...placed, hash: await eventHash(placed) };
}

/** SHA-256 over every column of a row but the hash itself, in this order, as a JSON array. */
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
