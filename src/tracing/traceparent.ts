/**
 * Reads a caller's own trace context. Pure. An invalid `traceparent` is ignored: the trace then begins here.
 *
 * Source: W3C Trace Context, §3.2 `traceparent`; MCP 2026-07-28 reserves the same key in `_meta` for it (SEP-414).
 */

export interface Parent {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  /** The party that began the trace keeps it. */
  isSampled: boolean;
}

/** Name of the `_meta` key and of the header. */
export const TRACEPARENT = 'traceparent';
/** A newer version may have more fields after the flags. */
const MAX_CHARS = 256;
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
/** The flag of a sampled trace. */
const SAMPLED = 1;

/** Returns the trace and span that a `traceparent` names; undefined if it is not valid. */
export function parseTraceparent(text: string | undefined): Parent | undefined {
  if (text === undefined || text.length > MAX_CHARS) return undefined;
  const [, version, traceId, spanId, flags = '0', more] = FORM.exec(text) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Returns a `traceparent` to pass on, so that the next party continues the trace under this span. */
export const toTraceparent = ({ traceId, spanId, isSampled }: Parent): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** Longest `tracestate` that is passed on, in characters: the minimum that W3C requires. */
const MAX_STATE_CHARS = 512;

/** Returns the `tracestate` that other tracers added; it is passed on unchanged, or not at all. */
export const parseTracestate = (text: string | null | undefined): string | undefined =>
  text && text.length <= MAX_STATE_CHARS && /^[\x20-\x7e]*$/.test(text) ? text : undefined;
