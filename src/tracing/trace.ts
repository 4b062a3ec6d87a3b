/** A trace that has ended, as it is handed to the transport: already bounded, and without anything that looks like a secret. */
import type { Parent } from './traceparent.ts';
import type { Attributes } from './tracer.ts';

export interface FinishedSpan {
  /** 16 hex digits. */
  spanId: string;
  /** Side of the request that the span describes; default: `server` for the first span of a trace, `internal` for the others. */
  kind?: 'server' | 'client' | 'internal';
  /** Another trace that the span belongs to. */
  link?: Parent | undefined;
  /** Undefined for the first span if the caller had no trace of its own. */
  parentSpanId: string | undefined;
  name: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Undefined if the trace ended before the span did. */
  endedAt: number | undefined;
  attributes: Attributes;
  /** Attributes that were dropped for lack of room. */
  droppedAttributes: number;
  decision: string | undefined;
  error: string | undefined;
}

export interface FinishedTrace {
  /** 32 hex digits. */
  traceId: string;
  /** In the order they began; the first is the root. */
  spans: readonly FinishedSpan[];
  /** Spans that were dropped for lack of room. */
  droppedSpans: number;
  endedAt: number;
}

/** Keeps or sends a trace. Its errors are ignored. */
export type SendTrace = (trace: FinishedTrace) => Promise<void>;
