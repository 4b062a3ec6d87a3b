/**
 * Makes a call by an account of the caller's own. A call that the server refuses because of the account was not executed: a token that the
 * server no longer accepts is renewed, and the call is sent again with the new one, once. Other refusals of the account are reported to its
 * owner, and are no fault of the server.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { UpstreamEndpoint, UpstreamEndpoints } from './endpoint.ts';
import { ScopeWanted } from './protocol/status-error.ts';

/**
 * @param send makes the call
 * @throws PorticoError `account_required` and what `send` throws
 */
export async function byOwnAccount<T>(
  endpoints: Pick<UpstreamEndpoints, 'of' | 'renewed' | 'want'>,
  server: Server,
  endpoint: UpstreamEndpoint,
  waitUntil: WaitUntil,
  send: (endpoint: UpstreamEndpoint) => Promise<T>,
): Promise<T> {
  const toError = (thrown: unknown): unknown => {
    if (isRefusal(thrown)) return refused();
    if (!(thrown instanceof ScopeWanted)) return thrown;
    waitUntil(endpoints.want(server, thrown.scope));
    const detail = `The server wants your account to allow more: ${thrown.scope.slice(0, MAX_SHOWN)}`;
    return new PorticoError('account_required', detail);
  };
  try {
    return await send(endpoint);
  } catch (thrown) {
    if (!isRefusal(thrown) || endpoint.tokenSerial === undefined) throw toError(thrown);
  }
  if (!(await endpoints.renewed(server, endpoint))) throw refused();
  try {
    return await send(await endpoints.of(server));
  } catch (thrown) {
    throw toError(thrown);
  }
}

/** Most characters of a server's scope that an error repeats. */
const MAX_SHOWN = 200;

const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof PorticoError && thrown.code === 'upstream_auth';
const refused = () => new PorticoError('account_required', 'The server refuses your account');
