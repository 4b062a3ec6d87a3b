/**
 * Traces of an isolate on their way to a collector: gathered for a second and sent together, one request at a time. The caller that adds
 * the first trace sends the request; all others add theirs and wait for nothing. A slow, dead or misbehaving collector costs only the
 * memory of what waits, which is bounded: traces without room are dropped and counted.
 *
 * Source: opentelemetry-proto, docs/specification.md, "OTLP/HTTP": retryable responses (429, 502, 503, 504) are retried once.
 */
import { toRetryAfterMs } from '../shared/util/retry-after.ts';
import type { OtlpSettings } from './otlp-settings.ts';
import { toOtlp } from './to-otlp.ts';
import type { FinishedTrace } from './trace.ts';

/** How long traces are gathered, in milliseconds. */
const GATHER_MS = 1_000;
/** Most spans of one request, and most spans that wait. */
const MAX_REQUEST_SPANS = 512;
const MAX_WAITING_SPANS = 4_096;
/** Timeout of one request, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Wait before the retry, and the longest `Retry-After` that is honoured, in milliseconds. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 4_000;
const RETRYABLE = new Set([429, 502, 503, 504]);
/** A sender that takes longer was cut off, and another caller takes over, in milliseconds. */
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
  /** Until when a sender is at work on the waiting traces. */
  #seenToUntil = Number.NEGATIVE_INFINITY;
  #droppedSpans = 0;

  constructor(ports: OtlpBatchPorts) {
    this.#ports = ports;
  }

  /** Spans that were dropped for lack of room, so far. */
  get droppedSpans(): number {
    return this.#droppedSpans;
  }

  /** Adds a trace. @returns resolves when the caller has nothing more to do for it; never rejects */
  async add(trace: FinishedTrace): Promise<void> {
    const { now, wait } = this.#ports;
    if (this.#spans + trace.spans.length > MAX_WAITING_SPANS) {
      this.#droppedSpans += trace.spans.length;
    } else {
      this.#waiting.push(trace);
      this.#spans += trace.spans.length;
    }
    // Also for a caller whose trace was dropped: the sender may have been cut off, and nothing else makes room.
    if (now() < this.#seenToUntil) return;
    this.#seenToUntil = now() + CUT_OFF_MS;
    await wait(GATHER_MS);
    while (this.#waiting.length > 0) {
      this.#seenToUntil = now() + CUT_OFF_MS;
      await this.#send(this.#take()).catch(() => {});
    }
    this.#seenToUntil = Number.NEGATIVE_INFINITY;
  }

  /** Takes the traces for one request: at least one, however large. */
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
    const { wait, now } = this.#ports;
    const body = JSON.stringify(toOtlp(traces));
    const first = await this.#post(body);
    if (!RETRYABLE.has(first.status)) return;
    await wait(toRetryAfterMs(first.headers, now(), MAX_RETRY_MS) ?? RETRY_MS);
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
    // The response body is not used.
    await response.body?.cancel();
    return response;
  }
}
