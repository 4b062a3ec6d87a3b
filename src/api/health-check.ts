/**
 * Health paths for load balancers and containers, without a credential. `/health`: whether the database can be read. `/health/live`: that
 * the gateway runs; reads nothing. `/health/ready`: whether it can serve; a stopping gateway cannot.
 */
import type { Drain } from '../http/drain.ts';
import type { HealthService } from '../servers/health/health-service.ts';
import type { Readiness } from '../servers/health/readiness.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { IMPLEMENTATION } from '../shared/protocol.ts';

export interface HealthCheckPorts {
  health: Pick<HealthService, 'isStorageThere'>;
  readiness: { result(): Promise<Readiness> };
  /** Absent where no host stops the gateway with a drain. */
  drain: Pick<Drain, 'isStopping'> | undefined;
}

const PATHS = new Set(['/health', '/health/live', '/health/ready']);

/** Whether a path is one of the health paths. */
export const isHealthPath = (path: string): boolean => PATHS.has(path);

/** Serves a health path. */
export async function handleHealth(
  { method }: Request,
  { pathname }: URL,
  ports: HealthCheckPorts,
): Promise<Response> {
  if (method !== 'GET' && method !== 'HEAD') {
    const response = toProblemResponse(new PorticoError('method_not_allowed'));
    response.headers.set('allow', 'GET, HEAD');
    return response;
  }
  if (pathname === '/health/live') return Response.json({ status: 'ok' });
  const status = await find(pathname, ports);
  const { version } = IMPLEMENTATION;
  if (status === 'ok') return Response.json({ status, version });
  return Response.json({ status, version }, { status: 503, headers: { 'retry-after': '1' } });
}

async function find(
  path: string,
  { health, readiness, drain }: HealthCheckPorts,
): Promise<Readiness | 'stopping'> {
  if (path === '/health') return (await health.isStorageThere()) ? 'ok' : 'storage_unavailable';
  return drain?.isStopping ? 'stopping' : readiness.result();
}
