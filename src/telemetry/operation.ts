/**
 * One request as it is seen from outside: what it was, which servers it was put to, how it ended and how long that took. It is told these
 * things while it is served and waits for nothing; when the last of what it holds is over, it is handed on once, as `EndedOperation`.
 */
import { isDenial } from '../shared/errors/denials.ts';
import { errorEntry, type ErrorCode } from '../shared/errors/table.ts';
import { isObject, type JsonObject } from '../shared/protocol.ts';
import { toTraceparent, type Parent } from '../tracing/traceparent.ts';
import { randomHex } from '../tracing/trace-ids.ts';

/**
 * How a request ended; `tool_error` and `rpc_error` are what its server answered, `invalid` is what could not be done as it was asked.
 */
export type Outcome =
  'ok' | 'tool_error' | 'rpc_error' | 'denied' | 'invalid' | 'failed' | 'cancelled';

/** The way in. */
export type RequestSource = 'mcp' | 'sse' | 'rest' | 'http';

/** What a request turned out to be. Names are those its caller may know, and none where it may know none. */
export interface OperationFacts {
  source: RequestSource;
  /** Of MCP; of HTTP where it is another request: `GET`. */
  method: string;
  era?: 'modern' | 'legacy';
  /** The path without what differs from request to request: `/api/v1/tokens/{id}`. */
  route?: string;
  /** Text of a JSON-RPC id. */
  requestId?: string;
  sessionId?: string;
  protocolVersion?: string;
  principalId?: string;
  tokenId?: string;
  server?: string;
  tool?: string;
  prompt?: string;
  uri?: string;
  /** HTTP status, where that says how it ended. */
  status?: number;
  /** A result of before was the answer. */
  isHit?: boolean;
  /** Raw JSON, there where content is kept. */
  arguments?: string;
  result?: string;
}

/** A request to a server. */
export interface SendingFacts {
  server: string;
  /** `STDIO` where it is a program behind a connector. */
  transportType: string;
  url: string;
  method: string;
  protocolVersion?: string;
  /** The server's own name of the tool or prompt. */
  tool?: string;
  prompt?: string;
}

/** How something ended: where it went wrong, with a code of ours or one of JSON-RPC. */
export interface Ending {
  outcome: Outcome;
  code?: ErrorCode | number;
}

/** How something ended that failed with a code of ours. */
export function toEnding(code: ErrorCode): Ending {
  if (isDenial(code) || code === 'unauthorized') return { outcome: 'denied', code };
  return { outcome: errorEntry(code).status < 500 ? 'invalid' : 'failed', code };
}

export interface EndedSending extends SendingFacts, Ending {
  spanId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  durationMs: number;
  /** Questions that the server asked of its client. */
  questions: number;
}

/** A trace that a request is part of; there where requests are traced. */
export interface OperationTrace extends Parent {
  parentSpanId?: string | undefined;
  /** The trace of the transport, where the message names another one. */
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

/** The trace of a request, by what its message's `_meta` says. */
export type TraceOf = (meta: JsonObject | undefined) => OperationTrace | undefined;

/** Most requests to servers that one operation tells of; more are counted in nothing but its time. */
const MAX_SENDINGS = 64;

export class Operation {
  readonly #facts: Partial<OperationFacts> = {};
  readonly #onEnd: (ended: EndedOperation) => void;
  readonly #sendings: EndedSending[] = [];
  readonly #startedAt = Date.now();
  readonly #startedMs = performance.now();
  readonly #traceOf: TraceOf;
  #meta: JsonObject | undefined;
  /** Found when it is first asked for; null where there is none. */
  #found: OperationTrace | null | undefined;
  /** Whether arguments and results are kept. */
  readonly keepsContent: boolean;
  #ending: Ending = { outcome: 'ok' };
  #isOver = false;
  #held = 1;
  #underWay = 0;
  #waitingSince = 0;
  #upstreamMs = 0;

  /** @param traceOf finds the trace it is part of; where that is none, it is not traced */
  constructor(onEnd: (ended: EndedOperation) => void, traceOf: TraceOf, keepsContent: boolean) {
    this.#onEnd = onEnd;
    this.#traceOf = traceOf;
    this.keepsContent = keepsContent;
  }

  /** Its message may name a trace itself, which goes before that of the transport. @param meta its `_meta`, parsed */
  joins(meta: unknown): void {
    if (isObject(meta)) this.#meta = meta;
  }

  get #trace(): OperationTrace | undefined {
    if (this.#found === undefined) this.#found = this.#traceOf(this.#meta) ?? null;
    return this.#found ?? undefined;
  }

  /** The W3C header of what is done for it; undefined where it is not traced. */
  get traceparent(): string | undefined {
    return this.#trace && toTraceparent(this.#trace);
  }

  /** Nothing is known to have gone wrong. */
  get isWell(): boolean {
    return this.#ending.outcome === 'ok';
  }

  /** What is called is known: a tool of ours is not called what it calls itself. */
  get hasTarget(): boolean {
    const { tool, prompt, uri } = this.#facts;
    return tool !== undefined || prompt !== undefined || uri !== undefined;
  }

  /** It turned out to be this. */
  is(facts: Partial<OperationFacts>): void {
    Object.assign(this.#facts, facts);
  }

  /** It went wrong; what is told last is how. */
  ends(ending: Ending): void {
    this.#ending = ending;
  }

  /** It is not over before this is called, once. */
  hold(): () => void {
    this.#held += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.release();
      isHeld = false;
    };
  }

  /** Gives back what it was begun with. */
  release(): void {
    this.#held -= 1;
    if (this.#held > 0 || this.#isOver) return;
    this.#isOver = true;
    this.#end();
  }

  /** A request to a server leaves. */
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

/** One request to a server, from when it leaves to its end. */
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

  /** What goes with it, as headers and in `_meta`; undefined where it is not traced. */
  get context(): { traceparent: string; tracestate?: string } | undefined {
    if (!this.#trace) return undefined;
    const { state } = this.#trace;
    const traceparent = toTraceparent(this.#trace);
    return state === undefined ? { traceparent } : { traceparent, tracestate: state };
  }

  /** The server asks something of its client. */
  asks(questions = 1): void {
    this.#questions += questions;
  }

  /** It is over; a second end is nothing. */
  ends(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd(ending, this.#questions);
  }
}
