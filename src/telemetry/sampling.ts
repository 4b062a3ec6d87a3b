/**
 * Which traces are kept. Pure. A trace that its caller keeps is kept; of others a share, by the id alone, so that all who have part in a
 * trace decide alike. Source: OpenTelemetry, `ParentBased` and `TraceIdRatioBased` samplers.
 */
import type { EndedOperation } from './operation.ts';

/** Of the id of a trace the last 56 bits are random (W3C Trace Context Level 2). */
const RANDOM_DIGITS = 14;
const RANDOM_RANGE = 16 ** RANDOM_DIGITS;

/** Whether an id falls within a share of all ids. */
export const isWithin = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) < ratio * RANDOM_RANGE;

/** Whether a request is kept though it was not chosen: it failed, here or at its server, or was slow. Not where nobody knows who came. */
export function isRemarkable(
  { outcome, code, durationMs }: Pick<EndedOperation, 'outcome' | 'code' | 'durationMs'>,
  slowMs: number,
): boolean {
  if (code === 'unauthorized') return false;
  return (outcome !== 'ok' && outcome !== 'cancelled') || durationMs >= slowMs;
}
