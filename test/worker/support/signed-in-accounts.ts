/**
 * An in-test server with accounts, and the issuer at which their owners sign in. The issuer gives codes, checks PKCE, redirect and
 * resource, rotates refresh tokens, and accepts each once; the server returns the account of the call.
 */
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import type { Person } from './call-rows.ts';
import type { Browser } from './browser.ts';
import { challengeOf } from './code-flow.ts';
import { FakeServer, resultOf, toolOf } from './fake-server.ts';
import { fakeUpstreams } from './fake-upstreams.ts';
import { modern, type Portico } from './portico.ts';

interface Code {
  login: string;
  clientId: string;
  redirectUri: string;
  challenge: string;
  resource: string;
  scope: string;
}

const json = (body: unknown, status = 200) => Response.json(body, { status });
const refuse = (error: string) => json({ error }, 400);

export class Issuer {
  readonly url: string;
  /** Forms of the token endpoint, in order. */
  readonly asked: Record<string, string>[] = [];
  readonly revoked: string[] = [];
  registered = 0;
  /** How many of the next renewal responses are lost after the tokens were issued. */
  lost = 0;
  /** Renewal responses wait for this, after the tokens were issued. */
  pause: Promise<void> | undefined;
  /** Accepts a replaced refresh token again. */
  takesFormer = false;
  /** Answers every token request, while set. */
  outage: (() => Response) | undefined;
  lifetimeS = 3_600;
  /** The owner and expiry of each access token. */
  readonly access = new Map<string, { login: string; until: number; scope: string }>();
  readonly #refresh = new Map<string, { login: string; scope: string }>();
  readonly #codes = new Map<string, Code>();
  #made = 0;

  constructor(url: string) {
    this.url = url;
  }

  get renewals(): number {
    return this.asked.filter(form => form['grant_type'] === 'refresh_token').length;
  }

  /** A person consents. @returns where their browser is redirected to */
  agree(location: string, login: string): URL {
    const { searchParams: asked } = new URL(location);
    const of = (name: string) => asked.get(name) ?? '';
    if (of('code_challenge_method') !== 'S256') throw new Error('No PKCE with S256');
    const code = `code-${(this.#made += 1)}`;
    this.#codes.set(code, {
      login,
      clientId: of('client_id'),
      redirectUri: of('redirect_uri'),
      challenge: of('code_challenge'),
      resource: of('resource'),
      scope: of('scope'),
    });
    const back = new URL(of('redirect_uri'));
    back.search = String(new URLSearchParams({ code, state: of('state'), iss: this.url }));
    return back;
  }

  /** Refuses all tokens of a person from now on. */
  forget(login: string): void {
    for (const tokens of [this.access, this.#refresh]) {
      for (const [token, of] of tokens) if (of.login === login) tokens.delete(token);
    }
  }

  /** Refuses all former access tokens from now on. */
  forgetAccess(): void {
    this.access.clear();
  }

  readonly handle = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/.well-known/oauth-authorization-server') return json(this.#metadata());
    if (pathname === '/register') {
      this.registered += 1;
      return json({ client_id: `client-${this.registered}`, client_secret: 'secret' }, 201);
    }
    if (request.method !== 'POST') return new Response(null, { status: 404 });
    const entries = [...(await request.formData()).entries()];
    const form = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
    if (pathname === '/revoke') {
      this.revoked.push(form['token'] ?? '');
      this.#refresh.delete(form['token'] ?? '');
      return new Response(null, { status: 200 });
    }
    this.asked.push(form);
    if (this.outage) return this.outage();
    return form['grant_type'] === 'refresh_token' ? this.#renew(form) : this.#exchange(form);
  };

  #metadata(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      registration_endpoint: `${this.url}/register`,
      revocation_endpoint: `${this.url}/revoke`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  async #exchange(form: Record<string, string>): Promise<Response> {
    const code = this.#codes.get(form['code'] ?? '');
    this.#codes.delete(form['code'] ?? '');
    const isGood =
      code?.redirectUri === form['redirect_uri'] &&
      code?.resource === form['resource'] &&
      code?.challenge === (await challengeOf(form['code_verifier'] ?? ''));
    return isGood && code ? this.#give(code) : refuse('invalid_grant');
  }

  async #renew(form: Record<string, string>): Promise<Response> {
    const old = form['refresh_token'] ?? '';
    const held = this.#refresh.get(old);
    if (!held) return refuse('invalid_grant');
    if (!this.takesFormer) this.#refresh.delete(old);
    const given = this.#give(held);
    await this.pause;
    if (this.lost === 0) return given;
    this.lost -= 1;
    throw new TypeError('connection reset');
  }

  #give({ login, scope }: { login: string; scope: string }): Response {
    const id = (this.#made += 1);
    const [access_token, refresh_token] = [`access-${id}-of-${login}`, `refresh-${id}-of-${login}`];
    this.access.set(access_token, { login, scope, until: Date.now() + this.lifetimeS * 1_000 });
    this.#refresh.set(refresh_token, { login, scope });
    return json({ access_token, refresh_token, token_type: 'Bearer', expires_in: this.lifetimeS });
  }
}

/** Puts a server with its issuer on the network until the test ends. */
export class IssuedServer {
  readonly origin: string;
  readonly issuer: Issuer;
  /** Named instead of its own issuer. */
  issuerNamed: string;
  /** The scope that a call requires. */
  wanted = '';
  /** Requests that reached it. */
  asked = 0;
  readonly server = new FakeServer({ era: 'modern', tools: [toolOf('whoami')] });

  readonly name: string;

  constructor(name: string) {
    this.name = name;
    this.origin = `https://${name}.example.com`;
    this.issuer = new Issuer(`https://${name}.example.net`);
    this.issuerNamed = this.issuer.url;
    this.server.call = post => {
      const token = (post.headers.get('authorization') ?? '').slice('Bearer '.length);
      const { login = '' } = this.issuer.access.get(token) ?? {};
      return resultOf(post, { content: [{ type: 'text', text: `you are ${login}` }] });
    };
  }

  /** Everything works again. */
  reset(): void {
    this.wanted = '';
    this.issuerNamed = this.issuer.url;
    const well = { lost: 0, outage: undefined, pause: undefined, takesFormer: false };
    Object.assign(this.issuer, well);
  }

  readonly handle = (request: Request): Response | Promise<Response> => {
    this.asked += 1;
    if (request.url === `${this.origin}/.well-known/oauth-protected-resource/mcp`) {
      return json({ resource: `${this.origin}/mcp`, authorization_servers: [this.issuerNamed] });
    }
    const token = (request.headers.get('authorization') ?? '').slice('Bearer '.length);
    const held = this.issuer.access.get(token);
    if (!held || held.until <= Date.now()) return challenge(401, 'Bearer scope="base"');
    if (this.wanted !== '' && !held.scope.split(' ').includes(this.wanted)) {
      return challenge(403, `Bearer error="insufficient_scope", scope="${this.wanted}"`);
    }
    return this.server.handle(request);
  };
}

const challenge = (status: number, value: string) =>
  new Response('no', { status, headers: { 'www-authenticate': value } });

/** Puts them on the network. */
export const serveIssued = (...servers: IssuedServer[]): string[] =>
  fakeUpstreams(
    Object.fromEntries(
      servers.flatMap(each => [
        [each.origin, each.handle],
        [each.issuer.url, each.issuer.handle],
      ]),
    ),
  );

/** Where the page of a server redirects a browser to sign in. */
export async function leave(browser: Browser, server: string): Promise<string> {
  const page = await (await browser.post(`/connect/${server}`, { how: 'sign-in' })).text();
  const address = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page)?.[1];
  expect([page, address]).toEqual([page, expect.any(String)]);
  return (address ?? '').replaceAll('&amp;', '&');
}

/** The text of the page to which a browser returns. */
export async function comeBack(browser: Browser, { pathname, search }: URL): Promise<string> {
  const answer = await browser.get(pathname + search);
  const text = (await answer.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  return `${answer.status} ${text}`;
}

/** The existing accounts: their owners, and why they ended. */
export const accountRows = async () =>
  (
    await env.DB.prepare(
      `SELECT a.principal_id AS principal, g.issuer, g.ended FROM accounts AS a
       LEFT JOIN account_grants AS g ON g.account_id = a.id ORDER BY a.created_at, a.id`,
    ).all<{ principal: string; issuer: string | null; ended: string | null }>()
  ).results;

/** Who the server says a person is, or why it was not called. */
export async function whoami(portico: Portico, person: Person, server: string): Promise<string> {
  const { message, headers } = modern('tools/call', { name: `${server}.whoami`, arguments: {} });
  const answer = await portico.post(message, { token: person.token, headers });
  const { result, error } = await answer.json<{
    result?: { content: { text: string }[]; _meta?: Record<string, unknown> };
    error?: { message: string };
  }>();
  const reason = result?._meta?.['portico/reason'];
  const text = result?.content[0]?.text ?? error?.message ?? '';
  return reason === undefined ? text : `${String(reason)}: ${text}`;
}
