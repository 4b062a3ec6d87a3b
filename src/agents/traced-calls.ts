/** Makes trace spans of a model's calls: which tool, and how it ended. Arguments and results are left to the audit. Pure. */
import { REASON_META_KEY } from '../shared/errors/to-tool-result.ts';
import type { CanonicalCall, CanonicalResult } from '../models/formats/canonical-form.ts';
import { isObject } from '../shared/protocol.ts';
import type { Span } from '../tracing/tracer.ts';

/**
 * Returns a watcher for `runCalls`.
 * @param toolOf returns the gateway's name of a tool that the caller sees; names of other tools are not recorded
 */
export function traceCalls(span: Span, toolOf: (name: string) => string | undefined) {
  const spans = new Map<CanonicalCall, Span>();
  return {
    onStart(call: CanonicalCall): void {
      spans.set(call, span.child('tool.call', { tool: toolOf(call.name) }));
    },
    onEnd(call: CanonicalCall, { result }: CanonicalResult): void {
      const isFailed = result['isError'] === true;
      const meta = result['_meta'];
      const reason = isObject(meta) ? meta[REASON_META_KEY] : undefined;
      const error = typeof reason === 'string' ? { error: reason } : {};
      spans.get(call)?.end({ decision: isFailed ? 'error' : 'done', ...(isFailed ? error : {}) });
    },
  };
}
