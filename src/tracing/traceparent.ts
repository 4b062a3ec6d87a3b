/**
 * Where a caller's own trace comes in. Pure. What is not right is no parent: the trace begins here.
 *
 * Source: W3C Trace Context, §3.2 `traceparent`; MCP 2026-07-28 reserves the same key in `_meta` for it (SEP-414).
 */

export interface Parent {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  /** Whoever began it keeps it. */
  isSampled: boolean;
}

/** The `_meta` key and the header that hold it. */
export const TRACEPARENT = 'traceparent';
/** A version that is newer may have more behind the flags. */
const MAX_CHARS = 256;
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
/** The flag of a trace that is kept. */
const SAMPLED = 1;

/** The trace and span that a `traceparent` names. */
export function parseTraceparent(text: string | undefined): Parent | undefined {
  if (text === undefined || text.length > MAX_CHARS) return undefined;
  const [, version, traceId, spanId, flags = '0', more] = FORM.exec(text) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** A `traceparent` for whoever goes on with a span. */
export const toTraceparent = ({ traceId, spanId, isSampled }: Parent): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** The longest `tracestate` that is passed on, in characters, which W3C has as the least that must be. */
const MAX_STATE_CHARS = 512;

/** What other tracers added to a `traceparent`; it is passed on as it is, or not at all. */
export const parseTracestate = (text: string | null | undefined): string | undefined =>
  text && text.length <= MAX_STATE_CHARS && /^[\x20-\x7e]*$/.test(text) ? text : undefined;
