/**
 * The Worker's side of auditing and limiting calls: what is recorded of a call, and which limits it counts against (`call-log.ts` has how
 * it is recorded). Fails closed: a call that cannot be recorded is not sent.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { Caller } from '../../access/policy/caller.ts';
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import { isDenial } from '../../shared/errors/denials.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import type { Limit, NamedLimit } from '../../audit/limits/token-bucket.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { CatalogItem } from '../../servers/catalog/catalog.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { CallLog, OpenCall } from './call-log.ts';
import type { MakeStarted } from './gathered-calls.ts';
import type { DayBudgets } from './day-budgets.ts';
import type { LeasedLimits } from './leased-limits.ts';
import { toCallSubject, type CallEnd, type StartedCall } from '../../audit/calls/call-schema.ts';
import { redactArguments } from '../../shared/redaction/redact-arguments.ts';
import { markedSchemaOf } from '../../shared/redaction/secret-marks.ts';

export interface CallLedgerPorts {
  log: CallLog;
  /** Takes tokens for calls that are not recorded. */
  tokens: Pick<LeasedLimits, 'take'>;
  /** Counts calls of callers that have a budget. */
  budgets: Pick<DayBudgets, 'take' | 'refund'>;
  keys: Pick<KeyRing, 'digest'>;
  /** Whether calls have rows; if not, they are only limited. */
  isRecording: boolean;
  /** Per principal, and per principal at one server. */
  limits: { principal?: Limit | undefined; server?: Limit | undefined };
}

/** A call that is about to be sent, or is refused. */
export interface NamedCall {
  /** UUID of its row. */
  id: string;
  caller: Pick<Caller, 'principalId' | 'tokenId' | 'budgets'>;
  /** When it arrived, in milliseconds since the epoch. */
  at: number;
  facts: CallFacts;
  server?: CalledServer | undefined;
  /** Set if the call is not sent, for another reason than its limits. */
  refused?: Omit<CallEnd, 'id'>;
}

/** What is known of a call. */
export interface CallFacts {
  action: string;
  /** Qualified name, or the name as the client gave it. */
  subject: string;
  /** Raw JSON; absent if there are none. */
  arguments?: string | undefined;
  /** Characters of the request, which is in memory as long as its arguments are. */
  requestChars?: number;
  /** The called item, whose schema marks secrets. */
  item?: CatalogItem | undefined;
  /** Other members of the row's detail. */
  detail: JsonObject;
}

export type CalledServer = Pick<Server, 'id' | 'name' | 'status'>;

/** Requests up to this many characters wait in memory until their rows are made. */
const MAX_WAITING_CHARS = 4_096;

export class CallLedger {
  readonly #ports: CallLedgerPorts;

  constructor(ports: CallLedgerPorts) {
    this.#ports = ports;
  }

  /** Whether calls are recorded or limited for every caller. */
  get isNeeded(): boolean {
    const { isRecording, limits } = this.#ports;
    return isRecording || limits.principal !== undefined || limits.server !== undefined;
  }

  /** Whether calls of this caller are recorded or limited. */
  isNeededFor({ budgets }: Pick<Caller, 'budgets'>): boolean {
    return budgets !== undefined || this.isNeeded;
  }

  get isRecording(): boolean {
    return this.#ports.isRecording;
  }

  /**
   * Admits a call, which may be sent when this resolves.
   * @returns the open call, which takes its end; undefined if the call is over or not recorded
   * @throws PorticoError `rate_limited` or `budget_reached`, after which the row has its end; `busy` if that cannot be found out
   */
  async begin(call: NamedCall, waitUntil: WaitUntil): Promise<OpenCall | undefined> {
    const open = await this.#admit(call, waitUntil);
    const { budgets } = call.caller;
    // A call that is refused anyway counts against no budget.
    if (!budgets || call.refused) return open;
    try {
      await this.#ports.budgets.take(budgets, waitUntil);
      return open;
    } catch (thrown) {
      throw await refusedAs(thrown, call.id, open);
    }
  }

  /** An admitted call is not sent, so it counts against no budget. */
  refund({ budgets }: Pick<Caller, 'budgets'>, waitUntil: WaitUntil): void {
    if (budgets) this.#ports.budgets.refund(budgets, waitUntil);
  }

  async #admit(call: NamedCall, waitUntil: WaitUntil): Promise<OpenCall | undefined> {
    const { caller, server, refused } = call;
    const { principalId } = caller;
    const { log, tokens, isRecording } = this.#ports;
    const limits = this.#limitsFor(server);
    if (!isRecording) {
      const retryAfterMs = await tokens.take(principalId, limits, waitUntil);
      if (retryAfterMs !== undefined) throw limited(retryAfterMs, server);
      return undefined;
    }
    const isLight = (call.facts.requestChars ?? 0) <= MAX_WAITING_CHARS;
    const started = isLight ? this.#madeLater(call) : madeNow(this.#toCall(call));
    const pending = { principalId, started, limits, refused, waitUntil };
    const { open, retryAfterMs } = await log.begin(pending);
    if (retryAfterMs !== undefined) throw limited(retryAfterMs, server);
    return open;
  }

  /**
   * Takes a token of a principal's limit, without a call.
   * @throws PorticoError `rate_limited`; `busy` if that cannot be found out
   */
  async spend({ principalId }: Pick<Caller, 'principalId'>): Promise<void> {
    const retryAfterMs = await this.#ports.tokens.take(principalId, this.#limitsFor(undefined));
    if (retryAfterMs !== undefined) throw limited(retryAfterMs, undefined);
  }

  #madeLater(call: NamedCall): MakeStarted {
    let made: StartedCall | undefined;
    // The value is kept and no promise: the request that began to make it may be cut off.
    return async () => (made ??= await this.#toCall(call));
  }

  async #toCall({ id, caller, at, facts, server }: NamedCall): Promise<StartedCall> {
    const { action, subject, item, arguments: given, detail } = facts;
    const whole = {
      ...detail,
      ...(server ? { server: server.id } : {}),
      ...(given === undefined
        ? {}
        : {
            ...redactArguments(given, item && markedSchemaOf(item)),
            argument_chars: given.length,
            arguments_digest: await this.#ports.keys.digest('audit', given),
          }),
    };
    const { tokenId } = caller;
    const named = { id, at, tokenId, action, subject: toCallSubject(subject) };
    return { ...named, detail: JSON.stringify(whole) };
  }

  #limitsFor(server: CalledServer | undefined): NamedLimit[] {
    const { limits } = this.#ports;
    const own = limits.principal ? [{ name: '', ...limits.principal }] : [];
    return server && limits.server ? [...own, { name: server.id, ...limits.server }] : own;
  }
}

function madeNow(made: Promise<StartedCall>): MakeStarted {
  // Marks a rejection as handled; the code that awaits the row still gets it.
  made.catch(() => {});
  return () => made;
}

/** Ends the row of a call that may not be sent. @returns the error for its caller */
async function refusedAs(
  thrown: unknown,
  id: string,
  open: OpenCall | undefined,
): Promise<unknown> {
  const { code } = toPorticoError(thrown);
  open?.end({ id, outcome: outcomeOfCode(code), code, detail: {} }, false);
  try {
    await open?.canAnswer?.();
    return thrown;
  } catch {
    return new PorticoError('busy', 'The call cannot be recorded now; it was not made');
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

/** Returns the outcome of a call that failed with a code. */
export const outcomeOfCode = (code: ErrorCode) => (isDenial(code) ? 'denied' : 'failed');
