/** Requests that are no messages of MCP, as they are seen from outside. */
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { Operation, OperationFacts } from './operation.ts';
import type { Telemetry } from './telemetry.ts';

/** Statuses that say that whoever asked may not. */
const DENIED = new Set([401, 403, 429]);

/**
 * Serves a request. Where the answer goes on after its head, it is over with the head.
 * @param facts what is known of it before it is served
 */
export async function observeHttp(
  telemetry: Pick<Telemetry, 'begin'>,
  request: Request,
  facts: Omit<OperationFacts, 'method'>,
  waitUntil: WaitUntil,
  serve: (operation: Operation) => Response | Promise<Response>,
): Promise<Response> {
  const operation = telemetry.begin(waitUntil, request.headers);
  operation.is({ ...facts, method: request.method });
  try {
    const response = await serve(operation);
    const { status } = response;
    operation.is({ status });
    if (operation.isWell && DENIED.has(status)) operation.ends({ outcome: 'denied' });
    if (operation.isWell && status >= 500) operation.ends({ outcome: 'failed' });
    return response;
  } catch (thrown) {
    operation.ends({ outcome: 'failed', code: 'internal' });
    throw thrown;
  } finally {
    operation.release();
  }
}
