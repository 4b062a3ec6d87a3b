/**
 * One request as seen from outside: what it was, which servers it was sent to, how it ended and how long it took. It is informed of these
 * facts while it is served, and waits for nothing. When its last hold is released, it is handed on once, as `EndedOperation`.
 */
import { isDenial } from '../shared/errors/denials.ts';
import { errorEntry, type ErrorCode } from '../shared/errors/table.ts';
import { isObject, type JsonObject } from '../shared/protocol.ts';
import { toTraceparent, type Parent } from '../tracing/traceparent.ts';
import { randomHex } from '../tracing/trace-ids.ts';

/** How a request ended. `tool_error` and `rpc_error` are answers of its server; `invalid` means that it could not be done as requested. */
export type Outcome =
  'ok' | 'tool_error' | 'rpc_error' | 'denied' | 'invalid' | 'failed' | 'cancelled';

/** The way a request came in; `background` is work of the gateway's own. */
export type RequestSource = 'mcp' | 'sse' | 'rest' | 'http' | 'background';

/** Facts about a request. Names are those that the caller may know; absent where the caller may know none. */
export interface OperationFacts {
  source: RequestSource;
  /** The MCP method; for other requests the HTTP method: `GET`. */
  method: string;
  era?: 'modern' | 'legacy';
  /** The path with placeholders for the variable parts: `/api/v1/tokens/{id}`. */
  route?: string;
  /** Path of an HTTP request as it was sent, without its query, which may contain secrets; and its scheme: `https`. */
  path?: string;
  scheme?: string;
  /** The JSON-RPC id as text. */
  requestId?: string;
  sessionId?: string;
  protocolVersion?: string;
  principalId?: string;
  tokenId?: string;
  server?: string;
  tool?: string;
  prompt?: string;
  uri?: string;
  /** HTTP status, where it tells how the request ended. */
  status?: number;
  /** Whether it waits for a language model, as an ask and a chat do. */
  usesModel?: true;
  /** Whether the answer was a cache hit. */
  isHit?: boolean;
  /** Raw JSON, present where content is kept. */
  arguments?: string;
  result?: string;
}

/** A request to a server. */
export interface SendingFacts {
  server: string;
  /** `STDIO` for a program behind a connector. */
  transportType: string;
  url: string;
  method: string;
  protocolVersion?: string;
  /** The server's own name for the tool or prompt. */
  tool?: string;
  prompt?: string;
}

/** How something ended; on failure with a gateway or JSON-RPC error code. */
export interface Ending {
  outcome: Outcome;
  code?: ErrorCode | number;
}

/** Returns the ending for a gateway error code. */
export function toEnding(code: ErrorCode): Ending {
  if (isDenial(code) || code === 'unauthorized') return { outcome: 'denied', code };
  return { outcome: errorEntry(code).status < 500 ? 'invalid' : 'failed', code };
}

export interface EndedSending extends SendingFacts, Ending {
  spanId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  durationMs: number;
  /** Number of server requests: what the server asked of its client. */
  questions: number;
}

/** The trace that a request belongs to; present where requests are traced. */
export interface OperationTrace extends Parent {
  parentSpanId?: string | undefined;
  /** The transport's trace, where the message names another one. */
  link?: Parent | undefined;
  state?: string | undefined;
}

export interface EndedOperation extends Partial<OperationFacts>, Ending {
  trace: OperationTrace | undefined;
  startedAt: number;
  durationMs: number;
  /** Time in which at least one server was waited for, in milliseconds. */
  upstreamMs: number;
  sendings: readonly EndedSending[];
}

/** Returns the trace of a request, given the `_meta` of its message. */
export type TraceOf = (meta: JsonObject | undefined) => OperationTrace | undefined;

/** Most requests to servers recorded per operation; further ones only count towards its time. */
const MAX_SENDINGS = 64;

export class Operation {
  readonly #facts: Partial<OperationFacts> = {};
  readonly #onEnd: (ended: EndedOperation) => void;
  readonly #sendings: EndedSending[] = [];
  readonly #startedAt = Date.now();
  readonly #startedMs = performance.now();
  readonly #traceOf: TraceOf;
  #meta: JsonObject | undefined;
  /** Determined on first use; null where there is none. */
  #found: OperationTrace | null | undefined;
  /** Whether arguments and results are kept. */
  readonly keepsContent: boolean;
  #ending: Ending = { outcome: 'ok' };
  #isOver = false;
  #held = 1;
  #underWay = 0;
  #waitingSince = 0;
  #upstreamMs = 0;

  /** @param traceOf determines its trace; if it returns none, the request is not traced */
  constructor(onEnd: (ended: EndedOperation) => void, traceOf: TraceOf, keepsContent: boolean) {
    this.#onEnd = onEnd;
    this.#traceOf = traceOf;
    this.keepsContent = keepsContent;
  }

  /** Sets the message's `_meta`, whose trace takes precedence over that of the transport. @param meta its `_meta`, parsed */
  joins(meta: unknown): void {
    if (isObject(meta)) this.#meta = meta;
  }

  get #trace(): OperationTrace | undefined {
    if (this.#found === undefined) this.#found = this.#traceOf(this.#meta) ?? null;
    return this.#found ?? undefined;
  }

  /** W3C header for work done on its behalf; undefined where it is not traced. */
  get traceparent(): string | undefined {
    return this.#trace && toTraceparent(this.#trace);
  }

  /** Whether nothing is known to have gone wrong. */
  get isWell(): boolean {
    return this.#ending.outcome === 'ok';
  }

  /**
   * Whether the called tool, prompt or resource is known. It then stays: a built-in tool is not recorded under the name of a tool that it
   * calls.
   */
  get hasTarget(): boolean {
    const { tool, prompt, uri } = this.#facts;
    return tool !== undefined || prompt !== undefined || uri !== undefined;
  }

  /** Adds facts about the request. */
  is(facts: Partial<OperationFacts>): void {
    Object.assign(this.#facts, facts);
  }

  /** Records how it went wrong; the last call counts. */
  ends(ending: Ending): void {
    this.#ending = ending;
  }

  /** Keeps the operation open until the returned function is called. */
  hold(): () => void {
    this.#held += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.release();
      isHeld = false;
    };
  }

  /** Releases the hold that it was created with. */
  release(): void {
    this.#held -= 1;
    if (this.#held > 0 || this.#isOver) return;
    this.#isOver = true;
    this.#end();
  }

  /** Records that a request to a server is sent. */
  sends(facts: SendingFacts): Sending {
    const at = performance.now();
    if (this.#underWay === 0) this.#waitingSince = at;
    this.#underWay += 1;
    const release = this.hold();
    const startedAt = Date.now();
    const trace = this.#trace;
    const spanId = trace ? randomHex(8) : '';
    const onEnd = (ending: Ending, questions: number) => {
      const now = performance.now();
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#upstreamMs += now - this.#waitingSince;
      this.#ending = ending;
      if (this.#sendings.length < MAX_SENDINGS) {
        const ended = { ...facts, ...ending, spanId, startedAt, durationMs: now - at, questions };
        this.#sendings.push(ended);
      }
      release();
    };
    return new Sending(onEnd, trace && { ...trace, spanId });
  }

  #end(): void {
    this.#onEnd({
      ...this.#facts,
      ...this.#ending,
      trace: this.#trace,
      startedAt: this.#startedAt,
      durationMs: performance.now() - this.#startedMs,
      upstreamMs: this.#upstreamMs,
      sendings: this.#sendings,
    });
  }
}

/** One request to a server, from sending to its end. */
export class Sending {
  readonly #onEnd: (ending: Ending, questions: number) => void;
  readonly #trace: OperationTrace | undefined;
  #isOver = false;
  #questions = 0;

  constructor(
    onEnd: (ending: Ending, questions: number) => void,
    trace: OperationTrace | undefined,
  ) {
    this.#onEnd = onEnd;
    this.#trace = trace;
  }

  /** Trace context to send along, in headers and in `_meta`; undefined where it is not traced. */
  get context(): { traceparent: string; tracestate?: string } | undefined {
    if (!this.#trace) return undefined;
    const { state } = this.#trace;
    const traceparent = toTraceparent(this.#trace);
    return state === undefined ? { traceparent } : { traceparent, tracestate: state };
  }

  /** Counts server requests. */
  countQuestions(questions = 1): void {
    this.#questions += questions;
  }

  /** Ends it; a second call has no effect. */
  ends(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd(ending, this.#questions);
  }
}
