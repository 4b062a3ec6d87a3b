/**
 * The Worker's side of the audit of calls and of their limits: what a call is recorded as, and the one message to its principal's object
 * before it leaves. Fails closed: a call that cannot be recorded does not leave.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { Caller } from '../../access/policy/caller.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import type { Limit, NamedLimit } from '../../audit/limits/token-bucket.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { CallEnds } from './call-ends.ts';
import type {
  Admission,
  CallBeginning,
  CallEnd,
  CallShard,
  StartedCall,
} from '../../audit/calls/call-schema.ts';
import { redactArguments, redactText } from '../../shared/redaction/redact-arguments.ts';

export interface CallLedgerPorts {
  shardOf(principalId: string): CallShard;
  ends: CallEnds;
  keys: Pick<KeyRing, 'digest'>;
  /** Whether calls have rows; where not, they are limited only. */
  isRecording: boolean;
  /** Of one principal, and of one principal at one server. */
  limits: { principal?: Limit | undefined; server?: Limit | undefined };
  wait(ms: number): Promise<unknown>;
}

/** What a call is, as far as it is known. */
export interface CallFacts {
  action: string;
  /** Qualified name, or the name as it was given. */
  subject: string;
  /** Raw JSON; absent where it has none. */
  arguments?: string | undefined;
  /** What the schema of the arguments marks as secret, see `secret-marks.ts`. */
  schema?: JsonObject | undefined;
  /** What else its row tells. */
  detail: JsonObject;
}

/** The server a call is for. */
export type CalledServer = Pick<Server, 'id' | 'name' | 'status'>;

const MAX_SUBJECT_CHARS = 200;
/** Waits before an object that did not answer is asked again, in milliseconds. */
const RETRY_MS = [20, 100, 400, 0];

export class CallLedger {
  readonly #ports: CallLedgerPorts;

  constructor(ports: CallLedgerPorts) {
    this.#ports = ports;
  }

  /** Whether anything is to be recorded or limited. */
  get isNeeded(): boolean {
    const { isRecording, limits } = this.#ports;
    return isRecording || limits.principal !== undefined || limits.server !== undefined;
  }

  get isRecording(): boolean {
    return this.#ports.isRecording;
  }

  /**
   * A call leaves when this resolves: its row is durable, its tokens are taken.
   * @param refused there where it does not leave, for another reason than its limits
   * @throws PorticoError `rate_limited`, after which its row has its end; `busy` where that is not known
   */
  async begin(
    id: string,
    { principalId, tokenId }: Pick<Caller, 'principalId' | 'tokenId'>,
    at: number,
    facts: CallFacts,
    server: CalledServer | undefined,
    refused?: Omit<CallEnd, 'id'>,
  ): Promise<void> {
    const { isRecording, ends } = this.#ports;
    const call = isRecording ? await this.#toCall(id, tokenId, at, facts, server) : undefined;
    const limits = this.#limitsFor(server);
    if (!call && limits.length === 0) return;
    const ended = ends.take(principalId);
    const beginning = { principalId, limits, ended };
    const asked = { ...beginning, ...(call ? { call } : {}), ...(refused ? { refused } : {}) };
    const { retryAfterMs } = await this.#ask(principalId, asked);
    if (retryAfterMs !== undefined) throw limited(retryAfterMs, server);
  }

  /**
   * Takes a call from a principal's limit, without a call.
   * @throws PorticoError `rate_limited`; `busy` where that is not known
   */
  async spend({ principalId }: Pick<Caller, 'principalId'>): Promise<void> {
    const limits = this.#limitsFor(undefined);
    if (limits.length === 0) return;
    const ended = this.#ports.ends.take(principalId);
    const { retryAfterMs } = await this.#ask(principalId, { principalId, limits, ended });
    if (retryAfterMs !== undefined) throw limited(retryAfterMs, undefined);
  }

  /** A call has ended; nobody waits for it. @param isLast nothing may be begun after this */
  end(principalId: string, end: CallEnd, isLast: boolean, waitUntil: WaitUntil): void {
    const { ends } = this.#ports;
    if (isLast) waitUntil(ends.bringNow(principalId, end));
    else ends.bring(principalId, end, waitUntil);
  }

  /** A call goes on. One that cannot be told so now is told of again. */
  async renew(principalId: string, id: string): Promise<void> {
    await this.#ports
      .shardOf(principalId)
      .renew(id)
      .catch(() => {});
  }

  async #ask(principalId: string, beginning: CallBeginning): Promise<Admission> {
    const { shardOf, wait, ends } = this.#ports;
    for (const ms of RETRY_MS) {
      try {
        return await shardOf(principalId).begin(beginning);
      } catch {
        await wait(ms);
      }
    }
    ends.giveBack(principalId, beginning.ended);
    throw new PorticoError('busy', 'The call cannot be recorded now; it was not made');
  }

  async #toCall(
    id: string,
    tokenId: string,
    at: number,
    { action, subject, schema, arguments: given, detail }: CallFacts,
    server: CalledServer | undefined,
  ): Promise<StartedCall> {
    const whole = {
      ...detail,
      ...(server ? { server: server.id } : {}),
      ...(given === undefined
        ? {}
        : {
            ...redactArguments(given, schema),
            arguments_digest: await this.#ports.keys.digest('audit', given),
          }),
    };
    const safe = redactText(subject, MAX_SUBJECT_CHARS);
    return { id, at, tokenId, action, subject: safe, detail: JSON.stringify(whole) };
  }

  #limitsFor(server: CalledServer | undefined): NamedLimit[] {
    const { limits } = this.#ports;
    const own = limits.principal ? [{ name: '', ...limits.principal }] : [];
    return server && limits.server ? [...own, { name: server.id, ...limits.server }] : own;
  }
}

function limited(retryAfterMs: number, server: CalledServer | undefined): PorticoError {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new PorticoError('rate_limited', undefined, {
    retryAfterSeconds,
    data: { retryAfter: retryAfterSeconds, ...(server ? { server: shown(server) } : {}) },
  });
}

const shown = ({ id, name, status }: CalledServer) => ({ id, name, status });

/** Codes of what was refused by a decision on the caller. What is hidden is unknown, so both count. */
const DENIALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'forbidden',
  'rate_limited',
  'tool_not_found',
  'prompt_not_found',
  'resource_not_found',
]);

/** How a call ended that failed with a code. */
export const outcomeOfCode = (code: ErrorCode) => (DENIALS.has(code) ? 'denied' : 'failed');
