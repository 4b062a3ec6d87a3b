/**
 * A provider, as both SDKs call it: it keeps in memory what a program knows of an authorization server, and records the address to open.
 */
import { REDIRECT } from './signing-in.ts';

interface ClientInformation {
  client_id: string;
  issuer?: string | undefined;
}

interface Tokens {
  access_token: string;
  token_type: string;
  refresh_token?: string | undefined;
  issuer?: string | undefined;
}

export class KeptSignIn {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: 'A program',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  /** The addresses that a person was asked to open. */
  readonly asked: URL[] = [];
  #client: ClientInformation | undefined;
  #tokens: Tokens | undefined;
  #verifier = '';
  #discovered: object | undefined;

  /** @param clientId of its metadata document, with its issuer; without it the client registers itself */
  constructor(clientId?: string, issuer?: string) {
    this.#client = clientId === undefined ? undefined : { client_id: clientId, issuer };
  }

  get accessToken(): string {
    return this.#tokens?.access_token ?? '';
  }

  state = () => 'a state';
  clientInformation = () => this.#client;
  saveClientInformation = (client: ClientInformation) => void (this.#client = client);
  tokens = () => this.#tokens;
  saveTokens = (tokens: Tokens) => void (this.#tokens = tokens);
  redirectToAuthorization = (url: URL) => void this.asked.push(url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: object) => void (this.#discovered = state);
  discoveryState = () => this.#discovered as never;
  invalidateCredentials = (scope: string) => {
    if (scope === 'all' || scope === 'tokens') this.#tokens = undefined;
    if (scope === 'all' || scope === 'client') this.#client = undefined;
  };
}
