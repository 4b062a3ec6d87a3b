/**
 * What the end of a call says of its server. Pure. Only what the server did to it counts against it: not what the caller asked
 * for or how, and not what was refused here.
 */
import type { ErrorCode } from '../../shared/errors/table.ts';

/**
 * `good`: a JSON-RPC response, an error too. `answered`: the server is there and refused. `failed`: its fault. `none`: says
 * nothing of the server.
 */
export type Outcome = 'good' | 'answered' | 'failed' | 'none';

const OUTCOMES: Partial<Record<ErrorCode, Outcome>> = {
  upstream_unreachable: 'failed',
  upstream_timeout: 'failed',
  upstream_truncated: 'failed',
  upstream_no_response: 'failed',
  upstream_session: 'failed',
  upstream_5xx: 'failed',
  upstream_redirect: 'failed',
  upstream_bad_content_type: 'failed',
  upstream_bad_json: 'failed',
  upstream_bad_message: 'failed',
  upstream_auth: 'answered',
  upstream_scope: 'answered',
  upstream_rate_limited: 'answered',
  upstream_4xx: 'answered',
  upstream_too_large: 'answered',
};

/** @param code of the error a call ended with; undefined where it was answered */
export function outcomeOf(code: ErrorCode | undefined): Outcome {
  return code === undefined ? 'good' : (OUTCOMES[code] ?? 'none');
}
