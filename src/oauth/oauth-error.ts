/** Errors of the authorization server, with the codes of RFC 6749 §4.1.2.1 and §5.2, RFC 7591 §3.2.2, RFC 8707 §2 and RFC 8628 §3.5. */
const STATUS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_scope: 400,
  invalid_target: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  access_denied: 403,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  server_error: 500,
  temporarily_unavailable: 503,
  slow_down: 429,
  authorization_pending: 400,
  expired_token: 400,
} as const;

export type OAuthErrorCode = keyof typeof STATUS;

export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** The refused client, if it is known. */
  clientId: string | undefined;

  /**
   * @param description for people: printable ASCII without `"` and `\`, and never a secret
   * @param status if it differs from the code's usual one
   */
  constructor(code: OAuthErrorCode, description: string, status: number = STATUS[code]) {
    super(description);
    this.code = code;
    this.status = status;
  }
}

/** Does work for a known client; an OAuthError from it names the client. */
export async function forClient<T>(clientId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof OAuthError) thrown.clientId = clientId;
    throw thrown;
  }
}

/** Maps unexpected errors to a temporary fault of ours: after `invalid_grant` a client would start a new sign-in. */
export const toOAuthError = (thrown: unknown): OAuthError =>
  thrown instanceof OAuthError
    ? thrown
    : new OAuthError('temporarily_unavailable', 'Something went wrong here; try again');

/** The JSON error response of an endpoint for programs; must not be cached. */
export function toOAuthErrorResponse(error: OAuthError, isBasic = false): Response {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (error.status === 401 && isBasic) headers['www-authenticate'] = 'Basic realm="portico"';
  if (error.status === 503 || error.status === 429) headers['retry-after'] = '2';
  return Response.json(
    { error: error.code, error_description: error.message },
    { status: error.status, headers },
  );
}
