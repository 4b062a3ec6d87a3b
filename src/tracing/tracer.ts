/**
 * Traces as the domain makes them: a tree of spans, each with its decision. Secrets and names a caller may not see are not for them:
 * whoever sets an attribute sets what its caller may know, and the exporters take out what looks like a secret.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanEnd {
  /** What was decided in this stage, in the words of its table: `allowed`, `refused:unknown_tool`. */
  decision?: string;
  /** A stable code of the failure. */
  error?: string;
}

export interface Span {
  /** 32 hex digits: what `portico trace` takes. */
  readonly traceId: string;
  child(name: string, attributes?: Attributes): Span;
  set(attributes: Attributes): void;
  /** Ends it; a second end is nothing. The end of the first span of a trace hands the trace on. */
  end(end?: SpanEnd): void;
}

export interface Tracer {
  /**
   * @param defer runs work that outlives the response: the export
   * @param parent a W3C `traceparent` of the caller's own trace, where there is one
   */
  start(name: string, attributes: Attributes, waitUntil: WaitUntil, parent?: string): Span;
}

/** Where no traces are kept: ids are made, nothing is remembered. */
export const NO_TRACES: Tracer = {
  start() {
    const traceId = crypto.randomUUID().replaceAll('-', '');
    const span: Span = { traceId, child: () => span, set() {}, end() {} };
    return span;
  },
};
