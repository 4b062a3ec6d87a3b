/** Observes requests that are not MCP messages. */
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { Operation, OperationFacts } from './operation.ts';
import type { Telemetry } from './telemetry.ts';

/** Status codes of requests that were denied. */
const DENIED = new Set([401, 403, 429]);

/**
 * Serves a request and observes it. The operation ends with the response's head, even if the body is still being sent.
 * @param facts known before it is served
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
