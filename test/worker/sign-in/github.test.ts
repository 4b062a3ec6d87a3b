/** Signing in with GitHub, whose API identifies the person: by the account's number, for the allowed organizations. */
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { createBrowser, type Browser } from '../support/browser.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { createPortico, type Portico } from '../support/portico.ts';

const GITHUB = 'https://github.com';
const API = 'https://api.github.com';
const ISSUER = `${GITHUB}/login/oauth`;

const user = { id: 583_231, login: 'octocat', name: 'Ada', email: null };
const orgs: object[] = [{ login: 'acme' }];
const teams: object[] = [{ slug: 'platform', organization: { login: 'acme' } }];
let portico: Portico;

interface Github {
  token?: () => Response;
  user?: () => Response;
  orgs?: () => Response;
  teams?: (url: URL) => Response;
}

/** @returns the requests */
const serve = (github: Github = {}) => {
  const answers: Record<string, (url: URL) => Response> = {
    '/user': github.user ?? (() => Response.json(user)),
    '/user/orgs': github.orgs ?? (() => Response.json(orgs)),
    '/user/teams': github.teams ?? (() => Response.json(teams)),
  };
  const token =
    github.token ??
    (() => Response.json({ access_token: 'gho_x', token_type: 'bearer', scope: 'read:org' }));
  return fakeUpstreams({
    [GITHUB]: () => token(),
    [API]: request => {
      const url = new URL(request.url);
      return answers[url.pathname]?.(url) ?? new Response(null, { status: 404 });
    },
  });
};

const setUp = (more: object = {}) =>
  portico.api('POST', '/api/v1/sign-in-providers', {
    name: 'GitHub',
    kind: 'github',
    issuer: ISSUER,
    client_id: 'Iv1',
    client_secret: 'GITHUB_APP',
    required_claims: { orgs: ['acme'] },
    groups_claim: 'teams',
    group_map: { 'acme/platform': 'platform' },
    creates_principals: true,
    ...more,
  });

/** Goes to GitHub and returns with its answer. */
async function comeBack(browser: Browser, change: Record<string, string> = {}): Promise<Response> {
  const page = await (await browser.get('/sign-in')).text();
  const start = /href="(\/sign-in\/start[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const left = new URL((await browser.get(start)).headers.get('location') ?? '');
  expect(`${left.origin}${left.pathname}`).toBe(`${ISSUER}/authorize`);
  expect(left.searchParams.get('scope')).toBe('read:user read:org');
  expect(left.searchParams.get('code_challenge_method')).toBe('S256');
  const state = left.searchParams.get('state') ?? '';
  const query = new URLSearchParams({ code: 'a-code', state, ...change });
  return browser.get(`/sign-in/callback?${query}`);
}

beforeEach(async () => {
  portico = createPortico();
  await env.DB.batch(
    ['sign_ins', 'identities', 'sign_in_providers'].map(table =>
      env.DB.prepare(`DELETE FROM ${table}`),
    ),
  );
  const secret = { value: 'a-secret', origins: [GITHUB] };
  await portico.api('PUT', '/api/v1/secrets/GITHUB_APP', secret);
});

it("[ACC-7] signs in by the account's number, with the groups of its teams", async () => {
  serve();
  expect((await setUp()).status).toBe(201);
  const browser = createBrowser(portico);
  expect((await comeBack(browser)).status).toBe(303);
  expect(await (await browser.get('/sign-in')).text()).toContain('<strong>Ada</strong>');
  const listed = await portico.api('GET', '/api/v1/identities');
  const { identities } = await listed.json<{ identities: object[] }>();
  expect(identities).toMatchObject([
    { issuer: ISSUER, subject: '583231', groups: ['platform'], email: null },
  ]);
});

it('[ACC-7] reads every page of the teams of somebody who has many', async () => {
  const others = Array.from({ length: 100 }, (_, i) => ({ ...teams[0], slug: `other-${i}` }));
  const pages: Record<string, object[]> = { 1: others, 2: others, 3: teams };
  serve({
    teams: ({ searchParams: query }) => Response.json(pages[query.get('page') ?? '1'] ?? []),
  });
  await setUp();
  expect((await comeBack(createBrowser(portico))).status).toBe(303);
  const listed = await portico.api('GET', '/api/v1/identities');
  const { identities } = await listed.json<{ identities: object[] }>();
  expect(identities).toMatchObject([{ groups: ['platform'] }]);
});

it.each<[string, Github, Record<string, string>, number]>([
  ['of another organization', { orgs: () => Response.json([{ login: 'evil' }]) }, {}, 403],
  [
    'whose code is wrong',
    { token: () => Response.json({ error: 'bad_verification_code' }) },
    {},
    403,
  ],
  ['of another state', {}, { state: 'x' }, 403],
  ['of another issuer', {}, { iss: 'https://evil.example' }, 403],
  ['who did not allow it', {}, { error: 'access_denied' }, 403],
  ['without a number', { user: () => Response.json({ ...user, id: 'x' }) }, {}, 403],
  ['whom the API refuses', { user: () => new Response(null, { status: 401 }) }, {}, 403],
  [
    'while GitHub redirects',
    { token: () => Response.redirect('https://evil.example/', 302) },
    {},
    502,
  ],
])('[ACC-7] refuses somebody %s', async (_what, github, change, status) => {
  serve(github);
  expect((await setUp()).status).toBe(201);
  const browser = createBrowser(portico);
  const answer = await comeBack(browser, change);
  expect(answer.status).toBe(status);
  const { n } = (await env.DB.prepare('SELECT count(*) AS n FROM sign_ins').first<{
    n: number;
  }>()) ?? {
    n: -1,
  };
  expect(n).toBe(0);
});

it.each([
  ['for everybody', { required_claims: {} }],
  ['under another issuer', { issuer: 'https://ghe.example.com' }],
  ['as another kind', { kind: 'oidc' }],
  ['without a secret', { client_secret: null }],
])('[ACC-7] cannot be set up %s', async (_what, more) => {
  expect((await setUp(more)).status).toBe(422);
});
