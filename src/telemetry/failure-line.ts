/** Logs work of the gateway's own, as the check of a server, that failed in the gateway itself: no request shows it, and it is repeated. */
import { toPorticoError } from '../shared/errors/portico-error.ts';
import { toLog, type TelemetryDeps } from './create-telemetry.ts';
import { toEnding } from './operation.ts';
import { toLogLine } from './telemetry.ts';
import type { TelemetrySettings } from './telemetry-settings.ts';

/**
 * Writes its line, which is like that of a request. Never throws.
 * @param method what the work was
 * @param server name of the server that it was for
 */
export async function logFailure(
  lines: TelemetryDeps['lines'],
  { telemetry }: { telemetry: Pick<TelemetrySettings, 'log'> },
  method: 'check' | 'webhooks' | 'audit',
  startedAt: number,
  thrown: unknown,
  server?: string,
): Promise<void> {
  const work = {
    source: 'background',
    method,
    ...(server !== undefined && { server }),
    ...toEnding(toPorticoError(thrown).code),
    trace: undefined,
    startedAt,
    durationMs: Math.max(0, Date.now() - startedAt),
    upstreamMs: 0,
    sendings: [],
  } as const;
  const line = toLogLine(work, telemetry);
  if (line !== undefined) await toLog({ lines })([line]).catch(() => {});
}
