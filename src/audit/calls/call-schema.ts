/**
 * A call on its way to its audit row: what is known when it leaves, and how it ended. Every call is one row, which
 * first is stored as started in its principal's object and gets exactly one end there.
 */
import { redactText } from '../../shared/redaction/redact-arguments.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import type { NamedLimit } from '../limits/token-bucket.ts';
import type { Lease, LeaseRequest } from '../limits/token-lease.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { AuditOutcome, ChainHead } from '../audit-schema.ts';

const MAX_SUBJECT_CHARS = 200;

/** Returns the subject of a call as its row has it: without what looks like a secret, and not too long. */
export const toCallSubject = (name: string): string => redactText(name, MAX_SUBJECT_CHARS);

/** What is known of a call before it leaves. */
export interface StartedCall {
  /** UUID of its row. */
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  tokenId: string;
  /** `tool.call`, `prompt.get` or `resource.read`. */
  action: string;
  /** Qualified name, by `toCallSubject`. */
  subject: string;
  /** JSON: server, era, arguments without secrets. */
  detail: string;
}

export interface CallEnd {
  id: string;
  outcome: AuditOutcome;
  code: ErrorCode | null;
  /** What the row says in addition to the details known at the start. */
  detail: JsonObject;
}

/** A call that asks to be admitted. */
export interface CallBeginning {
  principalId: string;
  call: StartedCall;
  /** Set if the call is refused for another reason: its row ends with this at once. */
  refused?: Omit<CallEnd, 'id'>;
  limits: readonly NamedLimit[];
  /** Ends of earlier calls of this principal, sent along. */
  ended: readonly CallEnd[];
}

/** Whether a call may leave: it may if `retryAfterMs` is absent. */
export type Admission = { retryAfterMs?: number };

/** What the object of a shard of calls knows of its chain, for comparison with the database. */
export interface KeptChain {
  /** The last row that the database is known to have. */
  exported: ChainHead;
  /** The last row that was deleted because of its age. */
  pruned: ChainHead;
}

/** The object of a principal's calls, as a Worker sees it. */
export interface CallShard {
  begin(beginning: CallBeginning): Promise<Admission>;
  end(ended: readonly CallEnd[]): Promise<void>;
  renew(id: string): Promise<void>;
  /** Draws tokens for calls that are not recorded before they leave. */
  lease(principalId: string, request: LeaseRequest): Promise<Lease>;
  /** Gives back the tokens of a lease that were not spent. */
  giveBack(id: string, unspent: number): Promise<void>;
  /** Exports the calls that have ended to the database. Rejects if a part of them could not be exported. */
  settle(): Promise<void>;
}

const PREFIX = 'calls:';

/** Returns the name of the shard of a principal's calls, which is also the name of its object. */
export const callShard = (principalId: string): string => `${PREFIX}${principalId}`;

/** Whether a shard holds calls. */
export const isCallShard = (shard: string): boolean => shard.startsWith(PREFIX);

/** A call whose lease is not renewed for this long has ended in an unknown way, in milliseconds. */
export const LEASE_MS = 35_000;
/** How often a running call renews its lease, in milliseconds. */
export const RENEWAL_MS = 15_000;
