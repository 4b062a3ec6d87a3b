/**
 * A trace that has ended: what is handed to whoever keeps it. It is bounded and holds nothing that looks like a secret already.
 */
import type { Parent } from './traceparent.ts';
import type { Attributes } from './tracer.ts';

export interface FinishedSpan {
  /** 16 hex digits. */
  spanId: string;
  /** Whose side it tells of; absent: `server` of the first span of a trace, `internal` of the others. */
  kind?: 'server' | 'client' | 'internal';
  /** Another trace that it belongs to. */
  link?: Parent | undefined;
  /** Undefined of the first span where the caller had no trace of its own. */
  parentSpanId: string | undefined;
  name: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Undefined where the trace ended before it. */
  endedAt: number | undefined;
  attributes: Attributes;
  /** Attributes that had no room. */
  droppedAttributes: number;
  decision: string | undefined;
  error: string | undefined;
}

export interface FinishedTrace {
  /** 32 hex digits. */
  traceId: string;
  /** In the order they began; the first is the root. */
  spans: readonly FinishedSpan[];
  /** Spans that had no room. */
  droppedSpans: number;
  endedAt: number;
}

/** Keeps or sends a trace. What it rejects with is for nobody. */
export type SendTrace = (trace: FinishedTrace) => Promise<void>;
