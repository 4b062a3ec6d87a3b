/**
 * A program that signs in with its metadata document (CIMD), with its callback on this machine: it asks for authorisation, receives the
 * answer and gets its tokens, with an independent implementation of the standard.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as oauth from 'oauth4webapi';

export interface SigningProgram {
  /** The address to open in a browser. */
  authorizeUrl: URL;
  /** The access token, once the browser came back. */
  accessToken: Promise<string>;
  stop(): Promise<void>;
}

/**
 * @param gateway origin of the gateway
 * @param host the host of the callback: `127.0.0.1`, `localhost` or `[::1]`
 * @param onward another host of this machine, to which the callback redirects
 */
export async function startSigningProgram(
  gateway: string,
  host = '127.0.0.1',
  onward?: string,
): Promise<SigningProgram> {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const arrived = Promise.withResolvers<URL>();
  const document = { url: '', text: '' };
  const server = createServer((request, response) => {
    const isDocument = request.url === '/client.json';
    response.setHeader('content-type', isDocument ? 'application/json' : 'text/html');
    const isCallback = request.url?.startsWith('/callback');
    if (isCallback) arrived.resolve(new URL(request.url ?? '', origin));
    if (isCallback && onward) {
      response.writeHead(302, { location: `http://${onward}:${port}/done` });
    }
    response.end(isDocument ? document.text : '<h1>Back in the program</h1>');
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, host === '[::1]' ? '::1' : '127.0.0.1', listening.resolve);
  await listening.promise;
  const { port } = server.address() as AddressInfo;
  const origin = `http://${host}:${port}`;
  document.url = `${origin}/client.json`;
  const redirectUri = `${origin}/callback`;
  document.text = JSON.stringify({
    client_id: document.url,
    client_name: 'Test program',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
  });

  const issuer = new URL(gateway);
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  const as = await oauth.processDiscoveryResponse(issuer, discovered);
  const client = { client_id: document.url };
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const authorizeUrl = new URL(as.authorization_endpoint ?? '');
  authorizeUrl.search = String(
    new URLSearchParams({
      response_type: 'code',
      client_id: document.url,
      redirect_uri: redirectUri,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource: `${gateway}/mcp`,
      state,
    }),
  );

  const accessToken = arrived.promise.then(async url => {
    const params = oauth.validateAuthResponse(as, client, url, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.None(),
      params,
      redirectUri,
      verifier,
      insecure,
    );
    return (await oauth.processAuthorizationCodeResponse(as, client, answer)).access_token;
  });
  return {
    authorizeUrl,
    accessToken,
    async stop() {
      const closed = Promise.withResolvers<unknown>();
      server.close(closed.resolve);
      server.closeAllConnections();
      await closed.promise;
    },
  };
}
