/** A call to a server that is given a rest is refused before it leaves: a refusal that waits for nothing. */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { errorEntry } from '../../shared/errors/table.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CallReports } from '../health/call-reports.ts';
import type { SendStep } from './send.ts';

/** A server that is called is tried within a second. */
const RETRY_AFTER_SECONDS = 1;

/** @param reports hear of it, since a server that is called is tried sooner */
export function refuseOpenCircuit(reports: Pick<CallReports, 'refuse'>): SendStep {
  return next => (server, request, name, context) => {
    const refusal = circuitRefusal(server);
    if (!refusal) return next(server, request, name, context);
    reports.refuse(server, context.waitUntil);
    return Promise.reject(refusal);
  };
}

/** Why a call to a server is refused, in the words that the registry has; undefined where its circuit is closed. */
export function circuitRefusal({ circuitRetryAt, lastError }: Server): PorticoError | undefined {
  if (circuitRetryAt === null) return undefined;
  const { title } = errorEntry('circuit_open');
  const why = lastError === null ? title : `${title}. It failed with ${lastError}`;
  return new PorticoError('circuit_open', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
