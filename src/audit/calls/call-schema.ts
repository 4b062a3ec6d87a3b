/**
 * A call on its way to its audit row: what is known when it leaves, and how it ended. Every call is one row, which is `started` in
 * its principal's object first and has exactly one end there.
 */
import type { ErrorCode } from '../../shared/errors/table.ts';
import type { NamedLimit } from '../limits/token-bucket.ts';
import type { Lease, LeaseRequest } from '../limits/token-lease.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { AuditOutcome, ChainHead } from '../audit-schema.ts';

/** What of a call is known before it leaves. */
export interface StartedCall {
  /** UUID of its row. */
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  tokenId: string;
  /** `tool.call`, `prompt.get` or `resource.read`. */
  action: string;
  /** Qualified name. */
  subject: string;
  /** JSON: server, era, arguments without secrets. */
  detail: string;
}

/** How a call ended. */
export interface CallEnd {
  id: string;
  outcome: AuditOutcome;
  code: ErrorCode | null;
  /** What the row tells beside what was known at the start. */
  detail: JsonObject;
}

/** A call that asks to leave. */
export interface CallBeginning {
  principalId: string;
  call: StartedCall;
  /** There where it may not leave for another reason: its row ends with this at once. */
  refused?: Omit<CallEnd, 'id'>;
  limits: readonly NamedLimit[];
  /** Ends of earlier calls of this principal, which are told on the way. */
  ended: readonly CallEnd[];
}

/** Whether it may leave. */
export type Admission = { retryAfterMs?: number };

/** What the object of a shard of calls knows of its chain, to compare the database with. */
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
  /** Tokens for calls that are not recorded before they leave. */
  lease(principalId: string, request: LeaseRequest): Promise<Lease>;
  /** Tokens of a lease were not spent. */
  giveBack(id: string, unspent: number): Promise<void>;
  /** Brings what has ended to the database. Rejects where something of it could not be brought. */
  settle(): Promise<void>;
}

const PREFIX = 'calls:';

/** Name of the shard of a principal's calls, and of its object. */
export const callShard = (principalId: string): string => `${PREFIX}${principalId}`;

/** Whether a shard holds calls. */
export const isCallShard = (shard: string): boolean => shard.startsWith(PREFIX);

/** A call nobody said anything of for this long has ended, and how is not known; in milliseconds. */
export const LEASE_MS = 35_000;
/** A call that lasts says so this often, in milliseconds. */
export const RENEWAL_MS = 15_000;
