/**
 * The ways to record calls. `batched`: nothing waits; an isolate gathers ended calls and hands them over (`gathered-calls.ts`). `durable`:
 * the row of a call is written when the call is sent (`group-commit.ts`) and is in the database before the response goes out; its end is
 * gathered. `before`: a call is sent once its row is durable in its principal's object, and that object sees to its end.
 */
import type {
  Admission,
  CallBeginning,
  CallEnd,
  CallShard,
  StartedCall,
} from '../../audit/calls/call-schema.ts';
import type { NamedLimit } from '../../audit/limits/token-bucket.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { CallEnds } from './call-ends.ts';
import type { EndedCall, GatheredCalls, MakeStarted } from './gathered-calls.ts';
import type { GroupCommit } from './group-commit.ts';
import type { LeasedLimits } from './leased-limits.ts';

/** A call that is about to be sent, or is refused. */
export interface PendingCall {
  principalId: string;
  started: MakeStarted;
  limits: readonly NamedLimit[];
  /** Set if the call is not sent, for another reason than its limits. */
  refused?: Omit<CallEnd, 'id'> | undefined;
  waitUntil: WaitUntil;
}

/** A call that has been sent. */
export interface OpenCall {
  /** Records how the call ended; nobody waits for that. @param isLast no work may begin after this */
  end(end: CallEnd, isLast: boolean): void;
  /** Renews the lease of the call; absent if there is none. */
  renew?(): Promise<void>;
  /** Resolves when the response may go out; absent if no response waits. @throws PorticoError `call_not_recorded` */
  canAnswer?(): Promise<void>;
}

export interface CallLog {
  /**
   * Admits a call, which may be sent when this resolves: its tokens are taken, and it is recorded if this log records before sending.
   * @returns `open` if the call may be sent
   * @throws PorticoError `busy` if that cannot be found out
   */
  begin(call: PendingCall): Promise<{ open?: OpenCall; retryAfterMs?: number | undefined }>;
}

export interface ShardPorts {
  shardOf(principalId: string): Pick<CallShard, 'begin' | 'renew'>;
  ends: CallEnds;
  wait(ms: number): Promise<unknown>;
}

/** Waits before an object that did not answer is asked again, in milliseconds. */
const RETRY_MS = [20, 100, 400, 0];
const LIMITED = { outcome: 'denied', code: 'rate_limited', detail: {} } as const;
/** End of a sent call in its row until the real one is known. */
const OPEN = { outcome: 'unknown', code: null, detail: {} } as const;
const NOT_MADE = { outcome: 'failed', code: 'busy', detail: {} } as const;
/** How long a response waits for its row, and how long a call that may not be sent without its row, in milliseconds. */
const ANSWER_MS = 10_000;
const REFUSAL_MS = 2_000;

const notMade = () => new PorticoError('busy', 'The call cannot be recorded now; it was not made');

/** Asks the principal's object to admit a call, and sends ends of other calls along. @throws PorticoError `busy` */
async function admit(
  { shardOf, ends, wait }: ShardPorts,
  { principalId, limits, refused }: PendingCall,
  call: StartedCall,
): Promise<Admission> {
  const ended = ends.take(principalId);
  const beginning: CallBeginning = {
    principalId,
    limits,
    ended,
    call,
    ...(refused ? { refused } : {}),
  };
  for (const ms of RETRY_MS) {
    try {
      return await shardOf(principalId).begin(beginning);
    } catch {
      await wait(ms);
    }
  }
  ends.giveBack(principalId, ended);
  throw notMade();
}

/** Records a call before it is sent. */
export function createBeforeLog(ports: ShardPorts): CallLog {
  const openCall = (principalId: string, id: string, waitUntil: WaitUntil): OpenCall => ({
    end(end, isLast) {
      if (isLast) waitUntil(ports.ends.bringNow(principalId, end));
      else ports.ends.bring(principalId, end, waitUntil);
    },
    // A failed renewal is retried at the next interval.
    renew: () =>
      ports
        .shardOf(principalId)
        .renew(id)
        .catch(() => {}),
  });
  return {
    async begin(call) {
      const { principalId, waitUntil } = call;
      const started = await call.started();
      const { retryAfterMs } = await admit(ports, call, started);
      if (call.refused || retryAfterMs !== undefined) return { retryAfterMs };
      return { open: openCall(principalId, started.id, waitUntil) };
    },
  };
}

/**
 * Records calls in chunks: once they have ended, or when they are sent and again with their end.
 * @param commits writes the rows that calls wait for; absent if calls wait for none
 */
export function createChunkLog(
  tokens: Pick<LeasedLimits, 'take'>,
  gathered: GatheredCalls,
  commits?: GroupCommit,
): CallLog {
  return {
    async begin(call) {
      const { principalId, started, limits, refused, waitUntil } = call;
      if (!gathered.hasRoom(waitUntil)) throw notMade();
      const retryAfterMs = await tokens.take(principalId, limits, waitUntil);
      const end = retryAfterMs === undefined ? refused : LIMITED;
      const add = (how: EndedCall['end'], isLast = false) =>
        gathered.add({ principalId, started, end: how }, isLast, waitUntil);
      if (!commits) {
        if (!end) return { open: { end: add } };
        add(end);
        return { retryAfterMs };
      }
      const row = commits.add({ principalId, started, end: end ?? OPEN }, waitUntil);
      // A refusal is answered at once, so its row is written first; and while writes fail, no call is sent without its row.
      const mustWait = end !== undefined || commits.isFailing;
      if (mustWait && !(await row.isStoredWithin(REFUSAL_MS))) {
        if (!end) add(NOT_MADE);
        throw notMade();
      }
      if (end) return { retryAfterMs };
      const storing = async () => {
        if (!(await row.isStoredWithin(ANSWER_MS))) throw new PorticoError('call_not_recorded');
      };
      let stored: Promise<void> | undefined;
      return { open: { end: add, canAnswer: () => (stored ??= storing()) } };
    },
  };
}
