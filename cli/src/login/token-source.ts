/** Where the token of a request comes from: one that was named, or one of a login, which is renewed. */

export interface TokenSource {
  /** The token to send. @throws Failure where there is none any more */
  get(): Promise<string>;
  /** Another one for one that was refused; undefined where there is none. @throws Failure where there is none any more */
  renew(refused: string): Promise<string | undefined>;
}

/** A token that was named: it is what it is. */
export const namedToken = (token: string): TokenSource => ({
  get: () => Promise.resolve(token),
  renew: () => Promise.resolve(undefined),
});

/** @param token a text is one that was named */
export const toSource = (token: string | TokenSource): TokenSource =>
  typeof token === 'string' ? namedToken(token) : token;

/**
 * Send a request with a token, and once more with another where that one is refused: nothing was done then.
 * @param send takes the value of the header `Authorization`
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
