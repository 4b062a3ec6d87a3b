/**
 * A provider that signs assertions, a program with a secret that presents them, and what they leave in the database. Each file calls
 * `setUpAssertions` once.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach } from 'vitest';
import {
  createAssertionIssuer,
  type AssertionIssuer,
  type Changed,
} from '../../fixtures/assertion-issuer.ts';
import { fakeUpstreams, type FakeUpstream } from './fake-upstreams.ts';
import { createPortico, ORIGIN, type Portico } from './portico.ts';

export const ISSUER = 'https://login.example.com';
export const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const PROVIDERS = '/api/v1/sign-in-providers';
export const RESOURCE = `${ORIGIN}/mcp`;

export interface Given {
  access_token: string;
  expires_in: number;
  scope: string;
  resource: string;
}

interface Secret {
  client_id: string;
  client_secret: string;
}

function requireDone({ ok, status }: Response): void {
  if (!ok) throw new Error(`the answer was ${status}`);
}

/** Shared by the tests of a file: created again before each, except for the keys. */
export class AssertionStand {
  idp!: AssertionIssuer;
  /** Another signer. */
  others!: AssertionIssuer;
  portico!: Portico;
  client!: Secret;
  /** The requests to the provider. */
  seen: string[] = [];

  /** Serves the provider; `instead` replaces paths of it, the second parameter adds other origins. */
  serve(
    instead: Record<string, FakeUpstream> = {},
    others: Record<string, FakeUpstream> = {},
  ): void {
    const answers: Record<string, unknown> = {
      '/.well-known/openid-configuration': this.idp.metadata,
      '/keys': this.idp.jwks,
    };
    this.seen = fakeUpstreams({
      ...others,
      [ISSUER]: request => {
        const { pathname } = new URL(request.url);
        return instead[pathname]?.(request) ?? Response.json(answers[pathname] ?? {});
      },
    });
  }

  async addClient(name: string): Promise<Secret> {
    const body = { name, redirect_uris: ['https://reports.example.com/cb'] };
    const made = await this.portico.api('POST', '/api/v1/oauth/clients', body);
    requireDone(made);
    const { id, client_secret } = await made.json<{ id: string; client_secret: string }>();
    return { client_id: id, client_secret };
  }

  /** An administrator sets the provider up. */
  async setUp(more: object = {}): Promise<void> {
    const usual = { name: 'Acme', issuer: ISSUER, client_id: 'portico', takes_assertions: true };
    const body = { ...usual, creates_principals: true, ...more };
    requireDone(await this.portico.api('POST', PROVIDERS, body));
  }

  /** The assertion that the provider signs for the program. */
  assertion(changed: Changed = {}, by = this.idp): Promise<string> {
    const said = {
      iss: ISSUER,
      sub: 'ada',
      aud: ORIGIN,
      client_id: this.client.client_id,
      resource: RESOURCE,
      scope: 'tools:read tools:call',
      name: 'Ada',
      groups: ['Engineering'],
    };
    return by.sign(said, changed);
  }

  /** The program presents it. */
  show(
    text: string,
    more: Record<string, string> = {},
    who: Partial<Secret> | Record<string, string> = this.client,
  ): Promise<Response> {
    const fields = { grant_type: GRANT_TYPE, assertion: text, ...who, ...more };
    return this.portico.fetch('/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams(fields)),
    });
  }

  /** The tokens for an accepted assertion. */
  async give(changed: Changed = {}, more: Record<string, string> = {}): Promise<Given> {
    const answer = await this.show(await this.assertion(changed), more);
    requireDone(answer);
    return answer.json<Given>();
  }

  async grants(): Promise<Record<string, unknown>[]> {
    const listed = await this.portico.api('GET', '/api/v1/grants');
    return (await listed.json<{ grants: Record<string, unknown>[] }>()).grants;
  }
}

export const count = async (sql: string): Promise<number> =>
  (await env.DB.prepare(`SELECT count(*) AS n FROM ${sql}`).first<{ n: number }>())?.n ?? -1;

export const NOTHING = { grants: 0, tokens: 0, identities: 0 };

/** The rows that assertions left. */
export const left = async () => ({
  grants: await count('oauth_grants'),
  tokens: await count('tokens WHERE grant_id IS NOT NULL'),
  identities: await count('identities'),
});

/** Counts audit rows of assertions with this outcome. */
export const acts = (outcome: string) =>
  count(`audit_events WHERE action = 'grant.create' AND outcome = '${outcome}'`);

const TABLES = [
  'oauth_grants',
  'oauth_clients',
  'oauth_assertions',
  'identities',
  'sign_in_providers',
];

export function setUpAssertions(): AssertionStand {
  const stand = new AssertionStand();
  beforeAll(async () => {
    [stand.idp, stand.others] = await Promise.all([
      createAssertionIssuer(ISSUER),
      createAssertionIssuer('https://evil.example.com'),
    ]);
  });
  beforeEach(async () => {
    stand.portico = createPortico();
    await env.DB.batch(TABLES.map(table => env.DB.prepare(`DELETE FROM ${table}`)));
    stand.serve();
    stand.client = await stand.addClient('Reports');
  });
  return stand;
}
