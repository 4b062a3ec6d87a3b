/** Where the token of a request comes from: one that was given, or one of a login, which is renewed. */

export interface TokenSource {
  /** Returns the token to send. @throws Failure where there is none any more */
  get(): Promise<string>;
  /** Returns a new token for a refused one; undefined where there is none. @throws Failure where the login is gone */
  renew(refused: string): Promise<string | undefined>;
}

/** A given token, which cannot be renewed. */
export const namedToken = (token: string): TokenSource => ({
  get: () => Promise.resolve(token),
  renew: () => Promise.resolve(undefined),
});

/** @param token a string is a given token */
export const toSource = (token: string | TokenSource): TokenSource =>
  typeof token === 'string' ? namedToken(token) : token;

/**
 * Sends a request with a token. If it is refused, nothing was done, so the request is sent once more with a renewed token.
 * @param send takes the value of the `Authorization` header
 */
export async function sendWithToken(
  source: TokenSource,
  send: (authorization: string) => Promise<Response>,
): Promise<Response> {
  const token = await source.get();
  const response = await send(`Bearer ${token}`);
  if (response.status !== 401) return response;
  const next = await source.renew(token);
  if (next === undefined) return response;
  await response.body?.cancel();
  return send(`Bearer ${next}`);
}
