/**
 * Endpoints of the authorization server for programs: metadata, tokens, registration, revocation, device codes. Pages of every origin may
 * use them, since a client may be a page; cookies are not read here.
 */
import { toPorticoError, PorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { CLIENT_DOCUMENT_PATH } from '../servers/accounts/connecting.ts';
import type { DeviceAuthorizations } from './devices/device-endpoint.ts';
import { findMetadata, PATHS } from './metadata.ts';
import { handleRevoke, handleToken, type TokenPorts } from './token-endpoint.ts';

export interface OAuthPorts extends TokenPorts {
  /** Responds to a client that registers itself (RFC 7591). */
  register(request: Request): Promise<Response>;
  devices: Pick<DeviceAuthorizations, 'answer'>;
  /** Our own client metadata document, for authorization servers of upstream servers. */
  toClientDocument(origin: string): object;
}

const WELL_KNOWN = '/.well-known/';
const POSTED: ReadonlySet<string> = new Set([
  PATHS.token,
  PATHS.register,
  PATHS.revoke,
  PATHS.deviceAuthorization,
]);

/** Whether a path belongs to one of these endpoints. */
export const isOAuthPath = (path: string): boolean =>
  path.startsWith(WELL_KNOWN) || path === CLIENT_DOCUMENT_PATH || POSTED.has(path);

/** Serves a request to one of these endpoints. */
export async function handleOAuth(
  request: Request,
  url: URL,
  ports: OAuthPorts,
): Promise<Response> {
  const methods = POSTED.has(url.pathname) ? ['POST'] : ['GET', 'HEAD'];
  if (request.method === 'OPTIONS') return preflight(methods);
  const response = methods.includes(request.method)
    ? await answer(request, url, ports)
    : refuse(new PorticoError('method_not_allowed'), { allow: methods.join(', ') });
  response.headers.set('access-control-allow-origin', '*');
  return response;
}

async function answer(request: Request, url: URL, ports: OAuthPorts): Promise<Response> {
  const { pathname, origin } = url;
  try {
    if (pathname === PATHS.token) return await handleToken(request, origin, ports);
    if (pathname === PATHS.revoke) return await handleRevoke(request, origin, ports);
    if (pathname === PATHS.deviceAuthorization) return await ports.devices.answer(request, origin);
    if (pathname === PATHS.register) return await ports.register(request);
  } catch (thrown) {
    return refuse(toPorticoError(thrown));
  }
  const isOurs = pathname === CLIENT_DOCUMENT_PATH;
  const document = isOurs ? ports.toClientDocument(origin) : findMetadata(url);
  if (!document) return refuse(new PorticoError('not_found', 'No such document'));
  return Response.json(document, { headers: { 'cache-control': 'public, max-age=300' } });
}

function refuse(error: PorticoError, headers: Record<string, string> = {}): Response {
  const response = toProblemResponse(error);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

const preflight = (methods: readonly string[]): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
      'access-control-max-age': '600',
    },
  });
