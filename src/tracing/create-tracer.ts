/**
 * Collects traces in the memory of their request, bounded in spans, attributes and characters. Each is handed on once,
 * when its first span ends, by work that no response waits for. If the transport fails, no request is affected.
 */
import { safeKey, safeValue, safeWord } from './safe-attributes.ts';
import type { FinishedSpan, FinishedTrace, SendTrace } from './trace.ts';
import { parseTraceparent } from './traceparent.ts';
import { randomHex } from './trace-ids.ts';
import { NO_TRACES, type Attributes, type Span, type SpanEnd, type Tracer } from './tracer.ts';

/** Most spans of one trace; further ones are only counted. */
export const MAX_SPANS = 512;
/** Most attributes of one span. */
export const MAX_ATTRIBUTES = 32;
/** Most characters of all attributes of one trace. */
export const MAX_TRACE_CHARS = 262_144;
/** Most traces of this isolate that are handed on at once; further ones are dropped. */
const MAX_PENDING = 32;

/**
 * @param send keeps or sends a trace; without it no traces are made
 * @param now milliseconds since the epoch
 */
export function createTracer(send: SendTrace | undefined, now: () => number): Tracer {
  if (send === undefined) return NO_TRACES;
  let pending = 0;
  async function handOn(trace: FinishedTrace): Promise<void> {
    if (pending >= MAX_PENDING) return;
    pending += 1;
    try {
      await send?.(trace);
    } catch {
      // A lost trace is not an error.
    } finally {
      pending -= 1;
    }
  }
  return {
    start(name, attributes, waitUntil, traceparent) {
      const parent = parseTraceparent(traceparent);
      const trace = new Trace(parent?.traceId ?? randomHex(16), now, ended => {
        waitUntil(handOn(ended));
      });
      return trace.begin(name, attributes, parent?.spanId);
    },
  };
}

class Trace {
  readonly #traceId: string;
  readonly #now: () => number;
  readonly #onEnd: (trace: FinishedTrace) => void;
  readonly #spans: FinishedSpan[] = [];
  #droppedSpans = 0;
  #room = MAX_TRACE_CHARS;
  #isEnded = false;

  constructor(traceId: string, now: () => number, onEnd: (trace: FinishedTrace) => void) {
    this.#traceId = traceId;
    this.#now = now;
    this.#onEnd = onEnd;
  }

  begin(name: string, attributes: Attributes | undefined, parentSpanId: string | undefined): Span {
    const record: FinishedSpan = {
      spanId: randomHex(8),
      parentSpanId,
      name: safeWord(name),
      startedAt: this.#now(),
      endedAt: undefined,
      attributes: {},
      droppedAttributes: 0,
      decision: undefined,
      error: undefined,
    };
    const isRoot = this.#spans.length === 0;
    if (this.#isEnded || this.#spans.length >= MAX_SPANS) {
      this.#droppedSpans += 1;
    } else {
      this.#spans.push(record);
      this.#set(record, attributes ?? {});
    }
    return {
      traceId: this.#traceId,
      child: (childName, childAttributes) => this.begin(childName, childAttributes, record.spanId),
      set: more => this.#set(record, more),
      end: end => this.#end(record, end, isRoot),
    };
  }

  #set(record: FinishedSpan, attributes: Attributes): void {
    if (this.#isEnded || record.endedAt !== undefined) return;
    const kept = new Map(Object.entries(record.attributes));
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined) continue;
      const name = safeKey(key);
      const safe = safeValue(key, value);
      const chars = name.length + String(safe).length;
      if ((!kept.has(name) && kept.size >= MAX_ATTRIBUTES) || chars > this.#room) {
        record.droppedAttributes += 1;
        continue;
      }
      this.#room -= chars;
      kept.set(name, safe);
    }
    record.attributes = Object.fromEntries(kept);
  }

  #end(record: FinishedSpan, { decision, error }: SpanEnd = {}, isRoot: boolean): void {
    if (this.#isEnded || record.endedAt !== undefined) return;
    record.endedAt = this.#now();
    record.decision = decision === undefined ? undefined : safeWord(decision);
    record.error = error === undefined ? undefined : safeWord(error);
    if (!isRoot) return;
    this.#isEnded = true;
    this.#onEnd({
      traceId: this.#traceId,
      spans: this.#spans,
      droppedSpans: this.#droppedSpans,
      endedAt: record.endedAt,
    });
  }
}
