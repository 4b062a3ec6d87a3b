/**
 * Traces of an isolate on their way to a collector: gathered for a second, sent together, one request at a time. Whoever adds the first one
 * sees to the request; all others leave theirs there and wait for nothing. A collector that is slow, dead or lies costs what waits for it,
 * which is bounded: what has no room is dropped and counted.
 *
 * Source: opentelemetry-proto, docs/specification.md, "OTLP/HTTP": what may be sent again (429, 502, 503, 504) is, once.
 */
import type { OtlpSettings } from './otlp-settings.ts';
import { toOtlp } from './to-otlp.ts';
import type { FinishedTrace } from './trace.ts';

/** Traces are gathered this long, in milliseconds. */
const GATHER_MS = 1_000;
/** Most spans of one request, and most that wait. */
const MAX_REQUEST_SPANS = 512;
const MAX_WAITING_SPANS = 4_096;
/** Longest time of one request, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Wait before the second attempt, and the longest wait that a collector is believed, in milliseconds. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 4_000;
const RETRYABLE = new Set([429, 502, 503, 504]);
/** Who sends was cut off after this, in milliseconds, and somebody else does it. */
const CUT_OFF_MS = GATHER_MS + 2 * TIMEOUT_MS + MAX_RETRY_MS;

export interface OtlpBatchPorts {
  otlp: OtlpSettings;
  wait(ms: number): Promise<unknown>;
  /** Milliseconds since the epoch. */
  now(): number;
}

export class OtlpBatch {
  readonly #ports: OtlpBatchPorts;
  #waiting: FinishedTrace[] = [];
  #spans = 0;
  /** Until when somebody sees to what waits. */
  #seenToUntil = Number.NEGATIVE_INFINITY;
  #droppedSpans = 0;

  constructor(ports: OtlpBatchPorts) {
    this.#ports = ports;
  }

  /** Spans that had no room, so far. */
  get droppedSpans(): number {
    return this.#droppedSpans;
  }

  /** Adds a trace. @returns resolves when nothing more is to be done for it by who added it; never rejects */
  async add(trace: FinishedTrace): Promise<void> {
    const { now, wait } = this.#ports;
    if (this.#spans + trace.spans.length > MAX_WAITING_SPANS) {
      this.#droppedSpans += trace.spans.length;
      return;
    }
    this.#waiting.push(trace);
    this.#spans += trace.spans.length;
    if (now() < this.#seenToUntil) return;
    this.#seenToUntil = now() + CUT_OFF_MS;
    await wait(GATHER_MS);
    while (this.#waiting.length > 0) {
      this.#seenToUntil = now() + CUT_OFF_MS;
      await this.#send(this.#take()).catch(() => {});
    }
    this.#seenToUntil = Number.NEGATIVE_INFINITY;
  }

  /** What goes with one request: at least one trace, however large. */
  #take(): FinishedTrace[] {
    let spans = 0;
    const end = this.#waiting.findIndex(trace => {
      spans += trace.spans.length;
      return spans > MAX_REQUEST_SPANS;
    });
    const taken = this.#waiting.splice(0, end < 0 ? this.#waiting.length : Math.max(1, end));
    for (const trace of taken) this.#spans -= trace.spans.length;
    return taken;
  }

  async #send(traces: readonly FinishedTrace[]): Promise<void> {
    const { wait } = this.#ports;
    const body = JSON.stringify(toOtlp(traces));
    const first = await this.#post(body);
    if (!RETRYABLE.has(first.status)) return;
    await wait(toRetryMs(first.headers));
    await this.#post(body);
  }

  async #post(body: string): Promise<Response> {
    const { url, headers } = this.#ports.otlp;
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    // What it answers is of no use.
    await response.body?.cancel();
    return response;
  }
}

/** `Retry-After` in seconds; a date is not read. */
function toRetryMs(headers: Headers): number {
  const seconds = /^\d{1,6}$/.exec(headers.get('retry-after') ?? '')?.[0];
  return seconds === undefined ? RETRY_MS : Math.min(Number(seconds) * 1_000, MAX_RETRY_MS);
}
