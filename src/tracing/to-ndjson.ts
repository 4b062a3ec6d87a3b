/**
 * Writes a trace as lines of JSON, one for each span in the order they began: the format of trace files, which `portico trace` reads. Pure.
 */
import type { FinishedSpan, FinishedTrace } from './trace.ts';

export interface SpanLine {
  trace_id: string;
  span_id: string;
  parent_span_id?: string;
  name: string;
  /** RFC 3339, UTC. */
  start: string;
  duration_ms: number;
  /** The trace ended before the span did. */
  unfinished?: true;
  decision?: string;
  error?: string;
  attributes?: Record<string, string | number | boolean>;
  dropped_attributes?: number;
  /** On the first line only: spans that were dropped for lack of room. */
  dropped_spans?: number;
}

/** Returns lines that end in line feeds, the root's first. */
export function toNdjson(trace: FinishedTrace): string {
  return trace.spans.map((span, at) => `${JSON.stringify(toLine(trace, span, at))}\n`).join('');
}

function toLine(trace: FinishedTrace, span: FinishedSpan, at: number): SpanLine {
  const { parentSpanId, startedAt, endedAt, decision, error, droppedAttributes } = span;
  const attributes = span.attributes as Record<string, string | number | boolean>;
  return {
    trace_id: trace.traceId,
    span_id: span.spanId,
    ...(parentSpanId === undefined ? {} : { parent_span_id: parentSpanId }),
    name: span.name,
    start: new Date(startedAt).toISOString(),
    duration_ms: (endedAt ?? trace.endedAt) - startedAt,
    ...(endedAt === undefined ? { unfinished: true } : {}),
    ...(decision === undefined ? {} : { decision }),
    ...(error === undefined ? {} : { error }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
    ...(droppedAttributes === 0 ? {} : { dropped_attributes: droppedAttributes }),
    ...(at === 0 && trace.droppedSpans > 0 ? { dropped_spans: trace.droppedSpans } : {}),
  };
}
