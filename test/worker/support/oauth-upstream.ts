/**
 * An in-test MCP server and its authorization server, for the gateway as a client: codes, PKCE, registration, rotating refresh tokens and
 * revocation. Every token request is kept. Its answers can be replaced by URL.
 */
import { fakeUpstreams } from './fake-upstreams.ts';

export interface SeenRequest {
  authorization: string | null;
  form: Record<string, string>;
}

const PROTECTED = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';

export class OauthUpstream {
  readonly origin: string;
  readonly url: string;
  readonly issuer: string;
  /** `METHOD url` of all requests, in order. */
  readonly seen: string[];
  readonly tokens: SeenRequest[] = [];
  readonly revoked: SeenRequest[] = [];
  readonly registered: unknown[] = [];
  /** Replaces the answer at a URL. */
  readonly replaced = new Map<string, (request: Request) => Response | Promise<Response>>();
  challenge = 'Bearer';
  resource: object;
  metadata: Record<string, unknown>;
  /** Members that `/token` answers besides an access token. */
  granted: object = {};

  constructor(name: string, path = '') {
    this.origin = `https://${name}.example.com`;
    this.url = `${this.origin}/mcp`;
    const authority = `https://${name}.example.net`;
    this.issuer = `${authority}${path}`;
    this.resource = { resource: this.url, authorization_servers: [this.issuer] };
    this.metadata = {
      issuer: this.issuer,
      authorization_endpoint: `${authority}/authorize?tenant=a`,
      token_endpoint: `${authority}/token`,
      registration_endpoint: `${authority}/register`,
      revocation_endpoint: `${authority}/revoke`,
      code_challenge_methods_supported: ['plain', 'S256'],
    };
    const handle = (request: Request) => this.#answer(request, `${authority}${SERVER}${path}`);
    this.seen = fakeUpstreams({ [this.origin]: handle, [authority]: handle });
  }

  get requests(): string[] {
    return this.seen.splice(0);
  }

  async #answer(request: Request, at: string): Promise<Response> {
    const { url, method } = request;
    const { pathname } = new URL(url);
    if (method === 'POST' && ['/token', '/revoke'].includes(pathname)) {
      const given = [...(await request.formData()).entries()];
      const form = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
      const seen = { authorization: request.headers.get('authorization'), form };
      (pathname === '/token' ? this.tokens : this.revoked).push(seen);
    }
    if (pathname === '/register') this.registered.push(await request.json());
    const replaced = this.replaced.get(url);
    if (replaced) return replaced(request);
    if (url === `${this.origin}${PROTECTED}/mcp`) return Response.json(this.resource);
    if (url === at) return Response.json(this.metadata);
    if (pathname === '/token') {
      return Response.json({ access_token: 'at-1', token_type: 'Bearer', ...this.granted });
    }
    if (pathname === '/revoke') return new Response(null, { status: 200 });
    if (pathname === '/register') {
      const secret = { client_id: 'c-1', client_secret: 's-1', client_secret_expires_at: 0 };
      return Response.json(secret, { status: 201 });
    }
    if (url === this.url) {
      return new Response('no', { status: 401, headers: { 'www-authenticate': this.challenge } });
    }
    return new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } });
  }
}
