/**
 * An in-test authorization server and the metadata of its MCP server: tokens are numbered, and every request for one is kept. Its metadata
 * can be replaced by path.
 */
import type { FakeUpstream } from './fake-upstreams.ts';

/** A received token request. */
export interface SeenGrant {
  authorization: string | null;
  form: Record<string, string>;
}

export interface FakeAuthorizationServerOptions {
  /** Lifetime of its tokens, in seconds. */
  lifetime?: number;
  /** Its announced methods of client authentication; absent announces none. */
  methods?: string[];
}

export class FakeAuthorizationServer {
  readonly origin: string;
  readonly grants: SeenGrant[] = [];
  /** GET requests by path. */
  readonly asked: string[] = [];
  /** Tokens that were issued and not revoked. */
  readonly good = new Set<string>();
  /** Replaces the answer at a path. */
  readonly replaced = new Map<string, () => Response | Promise<Response>>();
  readonly #options: FakeAuthorizationServerOptions;

  constructor(name: string, options: FakeAuthorizationServerOptions = {}) {
    this.origin = `https://${name}.example.net`;
    this.#options = options;
  }

  readonly handle: FakeUpstream = async request => {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET') this.asked.push(pathname);
    const replaced = this.replaced.get(pathname);
    if (pathname === '/token') {
      const given = [...(await request.formData()).entries()];
      const form = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
      this.grants.push({ authorization: request.headers.get('authorization'), form });
    }
    if (replaced) return replaced();
    if (pathname === '/token') return this.#grant();
    if (pathname === '/.well-known/oauth-authorization-server') {
      return Response.json({
        issuer: this.origin,
        token_endpoint: `${this.origin}/token`,
        ...(this.#options.methods && {
          token_endpoint_auth_methods_supported: this.#options.methods,
        }),
      });
    }
    return new Response('no', { status: 404 });
  };

  #grant(): Response {
    const token = `token-${this.grants.length}-${crypto.randomUUID()}`;
    this.good.add(token);
    const expires = { expires_in: this.#options.lifetime ?? 3600 };
    return Response.json({ access_token: token, token_type: 'Bearer', ...expires });
  }

  /** Whether a request to the MCP server has a valid token. */
  accepts(request: Request): boolean {
    return this.good.has(request.headers.get('authorization')?.replace(/^Bearer /, '') ?? '');
  }

  /** Metadata of the MCP server (RFC 9728). */
  resource(resource: string): Response {
    return Response.json({ resource, authorization_servers: [this.origin] });
  }
}
