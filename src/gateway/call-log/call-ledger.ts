/**
 * The Worker's side of the audit of calls and of their limits: what a call is recorded as, and by which limits it is bounded
 * (`call-log.ts` has how). Fails closed: a call that cannot be recorded does not leave.
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
import type { CallEnd, StartedCall } from '../../audit/calls/call-schema.ts';
import { redactArguments, redactText } from '../../shared/redaction/redact-arguments.ts';
import { markedSchemaOf } from '../../shared/redaction/secret-marks.ts';

export interface CallLedgerPorts {
  log: CallLog;
  /** Takes tokens for what is not recorded. */
  tokens: Pick<LeasedLimits, 'take'>;
  /** Counts calls of those who have a budget. */
  budgets: Pick<DayBudgets, 'take'>;
  keys: Pick<KeyRing, 'digest'>;
  /** Whether calls have rows; where not, they are limited only. */
  isRecording: boolean;
  /** Of one principal, and of one principal at one server. */
  limits: { principal?: Limit | undefined; server?: Limit | undefined };
}

/** A call that wants to leave, or may not. */
export interface NamedCall {
  /** UUID of its row. */
  id: string;
  caller: Pick<Caller, 'principalId' | 'tokenId' | 'budgets'>;
  /** When it came, in milliseconds since the epoch. */
  at: number;
  facts: CallFacts;
  server?: CalledServer | undefined;
  /** There where it does not leave, for another reason than its limits. */
  refused?: Omit<CallEnd, 'id'>;
}

/** What a call is, as far as it is known. */
export interface CallFacts {
  action: string;
  /** Qualified name, or the name as it was given. */
  subject: string;
  /** Raw JSON; absent where it has none. */
  arguments?: string | undefined;
  /** Characters of the request, which is in memory as long as its arguments are. */
  requestChars?: number;
  /** What is called, of which the schema marks secrets. */
  item?: CatalogItem | undefined;
  /** What else its row tells. */
  detail: JsonObject;
}

/** The server a call is for. */
export type CalledServer = Pick<Server, 'id' | 'name' | 'status'>;

const MAX_SUBJECT_CHARS = 200;
/** Requests of no more characters wait in memory until their rows are made. */
const MAX_WAITING_CHARS = 4_096;

export class CallLedger {
  readonly #ports: CallLedgerPorts;

  constructor(ports: CallLedgerPorts) {
    this.#ports = ports;
  }

  /** Whether calls are to be recorded or limited, whoever makes them. */
  get isNeeded(): boolean {
    const { isRecording, limits } = this.#ports;
    return isRecording || limits.principal !== undefined || limits.server !== undefined;
  }

  /** Whether anything of this caller is to be recorded or limited. */
  isNeededFor({ budgets }: Pick<Caller, 'budgets'>): boolean {
    return budgets !== undefined || this.isNeeded;
  }

  get isRecording(): boolean {
    return this.#ports.isRecording;
  }

  /**
   * A call leaves when this resolves.
   * @returns what is told how it ended; undefined where it is over, or not recorded
   * @throws PorticoError `rate_limited`, `budget_reached`, after which its row has its end; `busy` where that is not known
   */
  async begin(call: NamedCall, waitUntil: WaitUntil): Promise<OpenCall | undefined> {
    const open = await this.#admit(call, waitUntil);
    const { budgets } = call.caller;
    // What is refused anyway counts against no budget.
    if (!budgets || call.refused) return open;
    try {
      await this.#ports.budgets.take(budgets, waitUntil);
      return open;
    } catch (thrown) {
      throw await refusedAs(thrown, call.id, open);
    }
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
    const asking = { principalId, started, limits, refused, waitUntil };
    const { open, retryAfterMs } = await log.begin(asking);
    if (retryAfterMs !== undefined) throw limited(retryAfterMs, server);
    return open;
  }

  /**
   * Takes a call from a principal's limit, without a call.
   * @throws PorticoError `rate_limited`; `busy` where that is not known
   */
  async spend({ principalId }: Pick<Caller, 'principalId'>): Promise<void> {
    const retryAfterMs = await this.#ports.tokens.take(principalId, this.#limitsFor(undefined));
    if (retryAfterMs !== undefined) throw limited(retryAfterMs, undefined);
  }

  #madeLater(call: NamedCall): MakeStarted {
    let made: Promise<StartedCall> | undefined;
    return () => (made ??= this.#toCall(call));
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
    const safe = redactText(subject, MAX_SUBJECT_CHARS);
    const { tokenId } = caller;
    return { id, at, tokenId, action, subject: safe, detail: JSON.stringify(whole) };
  }

  #limitsFor(server: CalledServer | undefined): NamedLimit[] {
    const { limits } = this.#ports;
    const own = limits.principal ? [{ name: '', ...limits.principal }] : [];
    return server && limits.server ? [...own, { name: server.id, ...limits.server }] : own;
  }
}

function madeNow(made: Promise<StartedCall>): MakeStarted {
  // Whoever needs it hears of it.
  made.catch(() => {});
  return () => made;
}

/** A call whose row is begun may not leave. @returns what its caller is told */
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

/** How a call ended that failed with a code. */
export const outcomeOfCode = (code: ErrorCode) => (isDenial(code) ? 'denied' : 'failed');
