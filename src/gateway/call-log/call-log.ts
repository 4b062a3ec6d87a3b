/**
 * How calls are recorded. `batched`: nothing waits, an isolate gathers what has ended and hands it over (`gathered-calls.ts`).
 * `durable`: the row of a call is sent when it leaves (`group-commit.ts`) and in the database before its answer goes out; its end is
 * gathered. `before`: a call leaves when its row is durable in its principal's object, and that object sees to its end.
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

/** A call that asks to leave, or was refused. */
export interface AskingCall {
  principalId: string;
  started: MakeStarted;
  limits: readonly NamedLimit[];
  /** There where it does not leave, for another reason than its limits. */
  refused?: Omit<CallEnd, 'id'> | undefined;
  waitUntil: WaitUntil;
}

/** A call that has left. */
export interface OpenCall {
  /** It has ended; nobody waits for it. @param isLast nothing may be begun after this */
  end(end: CallEnd, isLast: boolean): void;
  /** It goes on; absent where nobody needs to know. */
  renew?(): Promise<void>;
  /** Resolves when its answer may go out; absent where no answer waits. @throws PorticoError `call_not_recorded` */
  canAnswer?(): Promise<void>;
}

export interface CallLog {
  /**
   * A call leaves when this resolves: its tokens are taken, and it is recorded as far as the log has it before a call leaves.
   * @returns `open` where it has left
   * @throws PorticoError `busy` where that cannot be known
   */
  begin(call: AskingCall): Promise<{ open?: OpenCall; retryAfterMs?: number | undefined }>;
}

export interface ShardPorts {
  shardOf(principalId: string): Pick<CallShard, 'begin' | 'renew'>;
  ends: CallEnds;
  wait(ms: number): Promise<unknown>;
}

/** Waits before an object that did not answer is asked again, in milliseconds. */
const RETRY_MS = [20, 100, 400, 0];
const LIMITED = { outcome: 'denied', code: 'rate_limited', detail: {} } as const;
/** How a call ended that has left, until that is known. */
const OPEN = { outcome: 'unknown', code: null, detail: {} } as const;
const NOT_MADE = { outcome: 'failed', code: 'busy', detail: {} } as const;
/** An answer waits for its row so long, in milliseconds, and a call that may not leave without it so long. */
const ANSWER_MS = 10_000;
const REFUSAL_MS = 2_000;

const notMade = () => new PorticoError('busy', 'The call cannot be recorded now; it was not made');

/** Puts a call to its principal's object, with ends of others. @throws PorticoError `busy` */
async function ask(
  { shardOf, ends, wait }: ShardPorts,
  { principalId, limits, refused }: AskingCall,
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

/** Records a call before it leaves. */
export function createBeforeLog(ports: ShardPorts): CallLog {
  const openCall = (principalId: string, id: string, waitUntil: WaitUntil): OpenCall => ({
    end(end, isLast) {
      if (isLast) waitUntil(ports.ends.bringNow(principalId, end));
      else ports.ends.bring(principalId, end, waitUntil);
    },
    // What cannot be told so now is told again.
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
      const { retryAfterMs } = await ask(ports, call, started);
      if (call.refused || retryAfterMs !== undefined) return { retryAfterMs };
      return { open: openCall(principalId, started.id, waitUntil) };
    },
  };
}

/**
 * Records calls in chunks: when they have ended, or when they leave and again with their end.
 * @param commits brings rows that are waited for; absent where none is
 */
export function createChunkLog(
  tokens: Pick<LeasedLimits, 'take'>,
  gathered: GatheredCalls,
  commits?: GroupCommit,
): CallLog {
  return {
    async begin(call) {
      const { principalId, started, limits, refused, waitUntil } = call;
      if (gathered.isFull) throw notMade();
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
      // What is refused is answered now; and while nothing can be written, nothing leaves without its row.
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
