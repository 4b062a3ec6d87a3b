/**
 * Challenges (RFC 6750 §3, RFC 9728 §5.1): they tell a refused client where to get a token and for which scopes. Without a credential in
 * the request, the challenge holds no error.
 */
import { SCOPE_HEADER } from '../shared/errors/to-problem.ts';
import { MEMBER_SCOPES } from '../shared/identity/principal.ts';
import { toResourcePath } from './audience.ts';

const METADATA = '/.well-known/oauth-protected-resource';

/** Returns the metadata URL of the resource at a URL. */
export function metadataUrlOf({ origin, pathname }: { origin: string; pathname: string }): string {
  if (pathname === '/messages') return `${origin}${METADATA}/sse`;
  if (pathname.startsWith('/api/')) return `${origin}${METADATA}/api/v1`;
  return `${origin}${METADATA}${toResourcePath(pathname) ?? ''}`;
}

/** Returns the response, with a challenge if it was refused for lack of a credential or a scope. */
export function withChallenge(request: Request, url: URL, response: Response): Response {
  const { status } = response;
  const scope = response.headers.get(SCOPE_HEADER);
  if (status !== 401 && scope === null) return response;
  const parts = [
    ...errorOf(request, status),
    `scope="${scope ?? MEMBER_SCOPES.join(' ')}"`,
    `resource_metadata="${metadataUrlOf(url)}"`,
  ];
  const challenged = new Response(response.body, response);
  challenged.headers.delete(SCOPE_HEADER);
  challenged.headers.set('www-authenticate', `Bearer ${parts.join(', ')}`);
  return challenged;
}

function errorOf(request: Request, status: number): string[] {
  if (status === 403) return ['error="insufficient_scope"'];
  const isSent = request.headers.has('authorization');
  return isSent ? ['error="invalid_token"', 'error_description="Send a valid token"'] : [];
}
