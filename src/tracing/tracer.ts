/**
 * Traces as the domain code makes them: a tree of spans, each with its decision. They must not contain secrets, or names that a caller may
 * not see: code that sets an attribute sets only what its caller may know, and anything that looks like a secret is removed before export.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanEnd {
  /** The decision of this stage, in the words of its table: `allowed`, `refused:unknown_tool`. */
  decision?: string;
  /** A stable code of the failure. */
  error?: string;
}

export interface Span {
  /** 32 hex digits: what `portico trace` takes. */
  readonly traceId: string;
  child(name: string, attributes?: Attributes): Span;
  set(attributes: Attributes): void;
  /** Ends the span; a second call has no effect. When the first span of a trace ends, the trace is handed on. */
  end(end?: SpanEnd): void;
}

export interface Tracer {
  /**
   * @param waitUntil runs the export, which outlives the response
   * @param parent a W3C `traceparent` of the caller's own trace, if there is one
   */
  start(name: string, attributes: Attributes, waitUntil: WaitUntil, parent?: string): Span;
}

/** Used if no traces are kept: it makes ids and records nothing. */
export const NO_TRACES: Tracer = {
  start() {
    const traceId = crypto.randomUUID().replaceAll('-', '');
    const span: Span = { traceId, child: () => span, set() {}, end() {} };
    return span;
  },
};
