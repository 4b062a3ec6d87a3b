/**
 * Converts a request to a data point of Cloudflare's Analytics Engine, which sums up many isolates where each isolate's metrics cannot.
 * Pure. The queries in docs/guides/see-what-happens.md depend on the order of the columns.
 *
 * Source: developers.cloudflare.com/analytics/analytics-engine (20 blobs, 20 doubles, one index of 96 bytes a point).
 */
import type { EndedOperation } from './operation.ts';

export interface DataPoint {
  indexes: string[];
  blobs: string[];
  doubles: number[];
}

const MAX_INDEX_CHARS = 32;
const MAX_BLOB_CHARS = 200;

/** Returns the data point of a request. */
export function toDataPoint(operation: EndedOperation): DataPoint {
  const { server = '', tool = '', method = '', era, source = '', outcome, code = '' } = operation;
  const { durationMs, upstreamMs, isHit, sendings } = operation;
  const questions = sendings.reduce((sum, sending) => sum + sending.questions, 0);
  const blobs = [server, tool, method, era ?? source, outcome, String(code)];
  return {
    indexes: [server.slice(0, MAX_INDEX_CHARS)],
    blobs: blobs.map(blob => blob.slice(0, MAX_BLOB_CHARS)),
    doubles: [durationMs, upstreamMs, isHit ? 1 : 0, questions],
  };
}
