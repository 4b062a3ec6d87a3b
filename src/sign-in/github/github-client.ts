/**
 * Sign-in with GitHub, which issues no ID token: the code is exchanged with PKCE, then GitHub's API returns the user. The subject is the
 * number of the account, since its name can change hands. Source: docs.github.com, authorizing OAuth apps; REST API, users and teams.
 */
import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import { createGuardedFetch } from '../../http/guarded-fetch.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Proven } from '../identities/claims.ts';
import type { Pending } from '../oidc/pending.ts';
import type { Provider } from '../providers/providers-schema.ts';

/** The issuer of GitHub as an authorization server. */
export const GITHUB_ISSUER = 'https://github.com/login/oauth';
const SERVER: oauth.AuthorizationServer = {
  issuer: GITHUB_ISSUER,
  authorization_endpoint: `${GITHUB_ISSUER}/authorize`,
  token_endpoint: `${GITHUB_ISSUER}/access_token`,
};
/** The origin to which the secret of an app is sent. */
export const GITHUB_ORIGIN = new URL(GITHUB_ISSUER).origin;
const API = 'https://api.github.com';
/** Time limit for all requests of one sign-in, in milliseconds. */
const STEP_MS = 15_000;
const MAX_BYTES = 1_048_576;
/** GitHub gives lists in pages of at most a hundred. */
const PAGE = { items: 100, most: 10 };

const UserSchema = z.looseObject({
  id: z.number().int().positive(),
  login: z.string(),
  name: z.string().nullish(),
  email: z.string().nullish(),
});
const OrgsSchema = z.array(z.looseObject({ login: z.string() }));
const TeamsSchema = z.array(
  z.looseObject({ slug: z.string(), organization: z.looseObject({ login: z.string() }) }),
);

/** Returns the URL where the browser signs in. Asks for organizations and teams only if a claim of them is used. */
export async function toGithubUrl(
  { client_id: clientId, settings }: Provider,
  { state, verifier, redirectUri }: Pending,
): Promise<URL> {
  const url = new URL(SERVER.authorization_endpoint ?? '');
  url.search = String(
    new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: readsOrgs(settings) ? 'read:user read:org' : 'read:user',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    }),
  );
  return url;
}

const readsOrgs = ({ groups_claim: groups, required_claims: required }: Provider['settings']) =>
  [groups, ...Object.keys(required)].some(claim => claim === 'orgs' || claim === 'teams');

/**
 * Returns who the person is, from GitHub's response.
 * @param url that the browser returned to
 * @param secret of the app
 * @throws PorticoError `forbidden` if anything in it is invalid, `credential_unavailable`
 */
export async function readGithubAnswer(
  provider: Provider,
  secret: string,
  url: URL,
  { state, verifier, redirectUri }: Pending,
): Promise<Proven> {
  const fetch = createGuardedFetch(false, AbortSignal.timeout(STEP_MS), MAX_BYTES);
  const client = { client_id: provider.client_id };
  try {
    const response = await oauth.authorizationCodeGrantRequest(
      SERVER,
      client,
      oauth.ClientSecretPost(secret),
      oauth.validateAuthResponse(SERVER, client, url, state),
      redirectUri,
      verifier,
      {
        [oauth.customFetch]: (to, { method, headers, body }) =>
          fetch(to, { method, headers, ...(body ? { body } : {}) }),
      },
    );
    const answer = await oauth.processAuthorizationCodeResponse(SERVER, client, response);
    return await whoIs(answer.access_token, readsOrgs(provider.settings), fetch);
  } catch (error) {
    if (!(error instanceof PorticoError)) {
      throw new PorticoError('forbidden', `${provider.name} did not sign you in; start again`);
    }
    throw new PorticoError(
      'credential_unavailable',
      `${provider.name} cannot be reached; try later`,
    );
  }
}

/** @throws Error if a response is not as expected */
async function whoIs(token: string, withOrgs: boolean, fetch: typeof globalThis.fetch) {
  const get = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const response = await fetch(`${API}${path}`, {
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'user-agent': 'portico',
        'x-github-api-version': '2022-11-28',
      },
    });
    if (response.status !== 200) throw new Error('GitHub refused');
    return schema.parse(await response.json());
  };
  const getAll = async <T>(path: string, schema: z.ZodType<T[]>): Promise<T[]> => {
    const all: T[] = [];
    for (let page = 1; page <= PAGE.most; page += 1) {
      const more = await get(`${path}?per_page=${PAGE.items}&page=${page}`, schema);
      all.push(...more);
      if (more.length < PAGE.items) break;
    }
    return all;
  };
  const [user, orgs, teams] = await Promise.all([
    get('/user', UserSchema),
    withOrgs ? getAll('/user/orgs', OrgsSchema) : [],
    withOrgs ? getAll('/user/teams', TeamsSchema) : [],
  ]);
  const claims = {
    login: user.login,
    ...(user.name ? { name: user.name } : {}),
    ...(user.email ? { email: user.email } : {}),
    orgs: orgs.map(({ login }) => login),
    teams: teams.map(({ slug, organization: { login } }) => `${login}/${slug}`),
  };
  return { issuer: GITHUB_ISSUER, subject: String(user.id), claims };
}
