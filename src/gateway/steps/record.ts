/**
 * Records calls and limits them. The record begins before all other steps, so that it sees what they refuse, in the same way for unknown
 * and for hidden items. When the row is durable depends on the log (`call-log/call-log.ts`).
 *
 * Invariants: one row for each call, with one end; a call waits for its token and, if it is recorded before it is sent, for its row; its
 * response waits for nothing but its own row, if the log wants that. The rounds of one request are one call.
 */
import type { Caller } from '../../access/policy/caller.ts';
import {
  outcomeOfCode,
  type CallFacts,
  type CallLedger,
  type NamedCall,
} from '../call-log/call-ledger.ts';
import type { OpenCall } from '../call-log/call-log.ts';
import { RENEWAL_MS, type CallEnd } from '../../audit/calls/call-schema.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import type { CallContext, CallMessages, CallReply } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import type { Refusal, RelayedRequest, RoutedReply } from '../gateway.ts';
import type { RawObject } from '../../shared/json/json-spans.ts';
import { toQualifiedName } from '../../shared/naming/qualified-name.ts';
import { toQualifiedUri } from '../../shared/naming/qualified-uri.ts';
import type { Resolved } from '../resolve.ts';
import { failureCode } from '../server-failure.ts';
import { toTimeId } from '../../shared/util/time-id.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';

/** Requests that are calls, and the actions in their rows. */
const ACTIONS = new Map<string, string>([
  ['tools/call', 'tool.call'],
  ['prompts/get', 'prompt.get'],
  ['resources/read', 'resource.read'],
]);
/** Result types that do not complete a call; their rows name them. */
const RECORDED_RESULT_TYPES = new Set<unknown>(['input_required', 'task']);
/** Most renewals of a call's lease: three hours, longer than any call may take. */
const MAX_RENEWALS = 720;

/** The record of one request, from its arrival to its end. */
export interface CallRecord {
  /** The call is about to be sent. @throws PorticoError `rate_limited`, `budget_reached`, `busy` */
  begin(resolved: Resolved): Promise<void>;
  /** The call got a reply, which may last. @throws PorticoError `call_not_recorded` */
  watch(routed: RoutedReply): Promise<RoutedReply>;
  /** The call got no reply. @returns the error for its caller: what was thrown, or `call_not_recorded` */
  fail(thrown: unknown): Promise<unknown>;
}

const NO_RECORD: CallRecord = {
  begin: async () => {},
  watch: async routed => routed,
  fail: async thrown => thrown,
};

/**
 * Returns the record of a request; it does nothing if the request is no call, or if calls of this caller are neither recorded nor limited.
 * @param ledger absent if nothing is recorded and nothing limited
 */
export function recordOf(
  ledger: CallLedger | undefined,
  caller: Caller,
  request: RelayedRequest,
  context: CallContext,
): CallRecord {
  const action = ACTIONS.get(request.method);
  if (!ledger?.isNeededFor(caller) || action === undefined) return NO_RECORD;
  return new AuditedCall(ledger, caller, action, request, context);
}

/** Records what was refused before it became a request to a server. */
export async function noteRefusal(
  ledger: CallLedger,
  caller: Caller,
  { method, subject = '', thrown, source }: Refusal,
  waitUntil: WaitUntil,
): Promise<void> {
  const code = failureCode(thrown);
  // Errors of requests that are no calls are not recorded.
  if (code !== 'forbidden' && !ACTIONS.has(method)) return;
  const action = ACTIONS.get(method) ?? method;
  const facts = { action, subject, detail: { door: source } };
  const at = Date.now();
  await refuse(ledger, { id: toTimeId(at), caller, at, facts }, code, waitUntil);
}

async function refuse(
  ledger: CallLedger,
  call: NamedCall,
  code: ErrorCode,
  waitUntil: WaitUntil,
  isGone = false,
): Promise<void> {
  const outcome = isGone ? 'cancelled' : outcomeOfCode(code);
  const refused = { outcome, code: isGone ? null : code, detail: {} } as const;
  await ledger.begin({ ...call, refused }, waitUntil);
}

/** Counts the characters of params, without those of their names. */
function charsOf(params: RawObject): number {
  let chars = 0;
  for (const value of params.values()) chars += value.length;
  return chars;
}

/** One call, from its arrival to its end. */
class AuditedCall implements CallRecord {
  readonly #ledger: CallLedger;
  readonly #caller: Caller;
  readonly #action: string;
  readonly #request: RelayedRequest;
  readonly #context: CallContext;
  readonly #at = Date.now();
  readonly #id = toTimeId(this.#at);
  /** Takes the end of the call; set once the call may be sent. */
  #open: OpenCall | undefined;
  /** `asked`: whether the call may be sent is being decided, or was refused. */
  #state: 'new' | 'asked' | 'left' | 'over' = 'new';
  #lacksAccount = false;
  #end: CallEnd | undefined;
  #timer: ReturnType<typeof setInterval> | 0 = 0;
  readonly #onGone = () => this.#finish('cancelled', null, {}, true);

  constructor(
    ledger: CallLedger,
    caller: Caller,
    action: string,
    request: RelayedRequest,
    context: CallContext,
  ) {
    this.#ledger = ledger;
    this.#caller = caller;
    this.#action = action;
    this.#request = request;
    this.#context = context;
  }

  async begin(resolved: Resolved): Promise<void> {
    const { server, name, item } = resolved;
    const isResource = this.#request.reference.kind === 'resource';
    const subject = isResource
      ? toQualifiedUri(server.name, name)
      : toQualifiedName(server.name, name, 'dot');
    const facts = { ...this.#facts(subject), item };
    this.#state = 'asked';
    this.#lacksAccount = server.needsAccount === true;
    const { signal, waitUntil } = this.#context;
    this.#open = await this.#ledger.begin({ ...this.#call(facts), server }, waitUntil);
    if (!this.#open) return;
    this.#state = 'left';
    if (signal.aborted) return this.#onGone();
    signal.addEventListener('abort', this.#onGone);
    if (this.#open.renew) this.#renew(this.#open.renew);
  }

  #renew(renew: () => Promise<void>): void {
    let renewals = 0;
    this.#timer = setInterval(() => {
      renewals += 1;
      if (renewals > MAX_RENEWALS) return clearInterval(this.#timer);
      void renew();
    }, RENEWAL_MS);
  }

  #call(facts: CallFacts): NamedCall {
    return { id: this.#id, caller: this.#caller, at: this.#at, facts };
  }

  async fail(thrown: unknown): Promise<unknown> {
    const { signal, waitUntil } = this.#context;
    if (this.#state !== 'new') {
      // It was refused after it had been admitted, so nothing was sent. A server that refuses an account was asked.
      const code = failureCode(thrown);
      const isUnsent =
        code === 'circuit_open' || (code === 'account_required' && this.#lacksAccount);
      if (isUnsent) this.#ledger.refund(this.#caller, waitUntil);
      return this.#failsWith(thrown);
    }
    const call = this.#call(this.#facts(this.#request.reference.name));
    await refuse(this.#ledger, call, failureCode(thrown), waitUntil, signal.aborted);
    return thrown;
  }

  async watch(routed: RoutedReply): Promise<RoutedReply> {
    if (this.#state !== 'left') return routed;
    return {
      ...routed,
      reply: await this.#watchReply(routed.reply, routed.isHit),
      retry: async extra => {
        try {
          return await this.#watchReply(await routed.retry(extra));
        } catch (thrown) {
          throw await this.#failsWith(thrown);
        }
      },
      onReplaced: code => this.#replace(code),
    };
  }

  async #watchReply(reply: CallReply, isHit = false): Promise<CallReply> {
    if ('messages' in reply) return { messages: this.#watchMessages(reply.messages) };
    await this.#open?.canAnswer?.();
    this.#answer(reply.response, isHit);
    return reply;
  }

  async *#watchMessages(messages: CallMessages): CallMessages {
    let response: RawResponse | undefined;
    try {
      for await (const message of messages) {
        if (message.kind === 'response') {
          await this.#open?.canAnswer?.();
          response = message;
        }
        yield message;
        if (response) return;
      }
      await this.#open?.canAnswer?.();
      this.#fails('upstream_no_response');
    } catch (thrown) {
      throw await this.#failsWith(thrown);
    } finally {
      if (response) this.#answer(response);
      // The consumer stopped reading the messages.
      else this.#finish('cancelled', null, {});
    }
  }

  /** The server answered; a caller that is asked for input may go on with the same call. */
  #answer(response: RawResponse, isHit = false): void {
    const { parsed } = response;
    const { resultType } = parsed;
    if (resultType === 'input_required' && this.#context.questions === 'ask') return;
    if ('error' in response) {
      this.#finish('done', null, { is_error: true, rpc_code: parsed['code'] });
      return;
    }
    const detail = {
      is_error: parsed['isError'] === true,
      result_chars: response.result.length,
      ...(RECORDED_RESULT_TYPES.has(resultType) ? { result: resultType } : {}),
      ...(isHit ? { cached: true } : {}),
    };
    this.#finish('done', null, detail);
  }

  /** Ends a failed call. @returns the error for its caller */
  async #failsWith(thrown: unknown): Promise<unknown> {
    let error = thrown;
    try {
      await this.#open?.canAnswer?.();
    } catch (unrecorded) {
      error = unrecorded;
    }
    this.#fails(failureCode(error));
    return error;
  }

  #fails(code: ErrorCode): void {
    // If the client has gone, the call ends with that, which `#onGone` records.
    if (!this.#context.signal.aborted) this.#finish(outcomeOfCode(code), code, {});
  }

  /** The caller gets an error instead of the server's answer. */
  #replace(code: ErrorCode): void {
    if (this.#end?.outcome === 'done') {
      this.#end.outcome = 'failed';
      this.#end.code = code;
    } else this.#fails(code);
  }

  /** @param isLast no work may begin after this */
  #finish(
    outcome: CallEnd['outcome'],
    code: ErrorCode | null,
    detail: CallEnd['detail'],
    isLast = false,
  ): void {
    if (this.#state !== 'left') return;
    this.#state = 'over';
    clearInterval(this.#timer);
    this.#context.signal.removeEventListener('abort', this.#onGone);
    const duration_ms = Date.now() - this.#at;
    this.#end = { id: this.#id, outcome, code, detail: { ...detail, duration_ms } };
    this.#open?.end(this.#end, isLast);
  }

  #facts(subject: string): CallFacts {
    const { source, params } = this.#request;
    return {
      action: this.#action,
      subject,
      arguments: params.get('arguments'),
      requestChars: charsOf(params),
      detail: { door: source },
    };
  }
}
