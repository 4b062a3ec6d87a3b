/** What each writing route is tested on: created for each trial, so that no test depends on another. */
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { writeSuggestions } from '../../../src/search/skills/suggestion-store.ts';
import { itemsOf, listApprovals } from './approvals.ts';
import { createBrowser } from './browser.ts';
import { enrol } from './fake-machine.ts';
import { FakeServer, serve, toolOf } from './fake-server.ts';
import { connect, createClient } from './oauth-client.ts';
import { makeWebhook } from './webhooks.ts';
import { createToken, register, registerConnected, type Portico } from './portico.ts';

export interface Trial {
  /** Creates the subject of the route; returns the value for the path. */
  subject?(portico: Portico): Promise<string>;
  /** The body, if the example of the document does not fit. */
  body?: unknown;
  /** Makes the body, if it names records that must exist. */
  makeBody?(portico: Portico): Promise<unknown>;
}

let made = 0;
const server = async (portico: Portico, more: object = {}): Promise<string> =>
  (await register(portico, `subject-${(made += 1)}`, { auto_connect: false, ...more })).id;
const secretName = async (): Promise<string> => `TRIAL_${(made += 1)}`;
async function secret(portico: Portico): Promise<string> {
  const name = await secretName();
  const body = { value: 'v', origins: ['https://mcp.example.com'] };
  expect((await portico.api('PUT', `/api/v1/secrets/${name}`, body)).status).toBe(200);
  return name;
}
const madeBy = (path: string, body: () => object) => async (portico: Portico) => {
  const response = await portico.api('POST', path, body());
  expect(response.status).toBe(201);
  return (await response.json<{ id: string }>()).id;
};
const principal = madeBy('/api/v1/principals', () => ({ name: 'subject' }));
const inviting = async (portico: Portico) => ({ principal: await principal(portico) });
const invitation = async (portico: Portico): Promise<string> => {
  const body = await inviting(portico);
  return madeBy('/api/v1/invitations', () => body)(portico);
};
/** A browser in which somebody is signed in. */
async function signIn(portico: Portico): Promise<string> {
  const { id: tokenId, token: value } = await createToken(portico);
  await createBrowser(portico).post('/sign-in', { code: value });
  const found = env.DB.prepare('SELECT id FROM sign_ins WHERE token_id = ?').bind(tokenId);
  return (await found.first<{ id: string }>())?.id ?? '';
}
const provider = madeBy('/api/v1/sign-in-providers', () => ({
  name: `subject-${(made += 1)}`,
  issuer: `https://login-${made}.example.com`,
  client_id: 'portico',
}));
/** A passkey of somebody. */
async function passkey(portico: Portico): Promise<string> {
  const id = crypto.randomUUID();
  await env.DB.prepare(
    `INSERT INTO passkeys (id, credential_id, principal_id, name, public_key, counter, transports, challenged_at, created_at)
     VALUES (?1, ?1, ?2, 'subject', '', 0, '[]', 0, 0)`,
  )
    .bind(id, await principal(portico))
    .run();
  return id;
}
/** A person who once signed in by a provider. */
async function identity(portico: Portico): Promise<string> {
  const id = crypto.randomUUID();
  await env.DB.prepare(
    `INSERT INTO identities (id, issuer, subject, provider_id, principal_id, name, groups, created_at, signed_in_at, expires_at)
     VALUES (?1, 'https://login.example.com', ?1, 'p', ?2, 'subject', '[]', 0, 0, 0)`,
  )
    .bind(id, await principal(portico))
    .run();
  return id;
}
/** An account at a server. */
async function account(portico: Portico): Promise<string> {
  const id = crypto.randomUUID();
  await env.DB.prepare(
    `INSERT INTO accounts (id, principal_id, server_id, auth_sealed, created_at, updated_at) VALUES (?, ?, ?, '1:k1.x', 0, 0)`,
  )
    .bind(id, await principal(portico), await server(portico))
    .run();
  return id;
}
const rule = madeBy('/api/v1/access/rules', () => ({
  effect: 'deny',
  subject: { kind: 'group', name: 'nobody' },
}));
const allowed = madeBy('/api/v1/ask/allowlist', () => ({ server: '*', tool: 'read_*' }));
/** A cache rule, for tools of a server of its own. */
async function cacheRule(portico: Portico): Promise<string> {
  const body = { server: await server(portico), tool: 'get', ttl_seconds: 60 };
  return madeBy('/api/v1/cache/rules', () => body)(portico);
}
const budgetBody = () => ({
  subject: { kind: 'group', name: `subject-${(made += 1)}` },
  calls_per_day: 5,
});
const budget = madeBy('/api/v1/budgets', budgetBody);
const toolset = madeBy('/api/v1/toolsets', () => ({
  name: `subject-${(made += 1)}`,
  include: ['*.get_*'],
}));
const oauthClient = madeBy('/api/v1/oauth/clients', () => ({
  name: 'subject',
  redirect_uris: ['https://app.example.com/callback'],
}));
const skill = madeBy('/api/v1/skills', () => ({ name: `Subject ${(made += 1)}` }));
/** A pending suggestion, for a tool of a server. */
async function suggestion(portico: Portico): Promise<string> {
  const id = `subject_${(made += 1)}`;
  const suggested = { id, name: id, description: '', tool: 'echo' };
  await env.DB.batch(writeSuggestions(env.DB, await server(portico), ['echo'], [suggested], 0));
  return id;
}
/** A server with the tool `tool`; optionally with a corrected skill. */
async function withTool(portico: Portico, isCorrected: boolean): Promise<string> {
  const name = `tooled-${(made += 1)}`;
  serve({ [name]: new FakeServer({ tools: [toolOf('tool')] }) });
  const { id } = await registerConnected(portico, name);
  if (!isCorrected) return id;
  const body = { skill_ids: ['weather'] };
  const corrected = await portico.api('PUT', `${SERVER}/${id}/tools/tool/skills`, body);
  expect(corrected.status).toBe(200);
  return id;
}
const connector = async (portico: Portico): Promise<string> =>
  (await enrol(portico, `subject-${(made += 1)}`)).id;
const webhook = async (portico: Portico): Promise<string> =>
  (await makeWebhook(portico, `subject-${(made += 1)}`)).id;
/** A failed delivery, of a webhook with the same id. */
async function deadDelivery(portico: Portico): Promise<string> {
  const id = await webhook(portico);
  await env.DB.prepare(
    `INSERT INTO webhook_deliveries (id, webhook_id, type, subject, data, occurred_at, state, next_at, give_up_at)
     VALUES (?1, ?1, 'server.up', 's', '{}', 0, 'dead', 0, 0)`,
  )
    .bind(id)
    .run();
  return id;
}
/** A grant of a person to a program. */
async function grant(portico: Portico): Promise<string> {
  const clientId = await createClient();
  await connect(portico, clientId, (await createToken(portico)).token);
  const answer = await portico.api('GET', `/api/v1/grants?client=${clientId}`);
  const { grants } = await answer.json<{ grants: { id: string }[] }>();
  return grants[0]?.id ?? '';
}
const token = async (portico: Portico): Promise<string> => (await createToken(portico)).id;

/** The decision on the tool of a server that holds it. */
async function held(portico: Portico): Promise<unknown> {
  const name = `holding-${(made += 1)}`;
  serve({ [name]: new FakeServer() });
  const { id } = await registerConnected(portico, name, { tool_approval: 'hold' });
  return { items: itemsOf((await listApprovals(portico, id)).approvals) };
}

const SERVER = '/api/v1/aggregator/servers';

/** By method and path, as in the document. */
export const TRIALS: Record<string, Trial> = {
  [`POST ${SERVER}`]: {},
  'POST /api/v1/aggregator/import': {
    body: { mcpServers: { imported: { url: 'https://imported.example.com/mcp', disabled: true } } },
  },
  [`PATCH ${SERVER}/{id}`]: { subject: server },
  [`DELETE ${SERVER}/{id}`]: { subject: server },
  [`POST ${SERVER}/{id}/connect`]: { subject: server },
  [`POST ${SERVER}/{id}/disconnect`]: { subject: server },
  'POST /api/v1/connectors': {},
  'POST /api/v1/connectors/{id}/rotate': { subject: connector },
  'DELETE /api/v1/connectors/{id}': { subject: connector },
  'PUT /api/v1/secrets/{name}': { subject: secretName },
  'DELETE /api/v1/secrets/{name}': { subject: secret },
  'POST /api/v1/secrets/compare': {},
  'PUT /api/v1/owners': {
    makeBody: async portico => ({
      kind: 'principal',
      id: await principal(portico),
      owner: 'platform',
      key: 'ada',
    }),
  },
  'POST /api/v1/webhooks': {},
  'PATCH /api/v1/webhooks/{id}': { subject: webhook },
  'DELETE /api/v1/webhooks/{id}': { subject: webhook },
  'POST /api/v1/webhooks/{id}/rotate': { subject: webhook },
  'POST /api/v1/webhooks/{id}/test': { subject: webhook },
  'POST /api/v1/webhooks/{id}/deliveries/{delivery}/retry': { subject: deadDelivery },
  'POST /api/v1/approvals/approve': { makeBody: held },
  'POST /api/v1/approvals/reject': { makeBody: held },
  'POST /api/v1/keys/rotate': {},
  'DELETE /api/v1/learning': {},
  'POST /api/v1/tokens': {},
  'POST /api/v1/tokens/{id}/rotate': { subject: token },
  'DELETE /api/v1/tokens/{id}': { subject: token },
  'POST /api/v1/invitations': { makeBody: inviting },
  'DELETE /api/v1/invitations/{id}': { subject: invitation },
  'DELETE /api/v1/sign-ins/{id}': { subject: signIn },
  'DELETE /api/v1/grants/{id}': { subject: grant },
  'POST /api/v1/oauth/clients': {},
  'DELETE /api/v1/oauth/clients/{id}': { subject: oauthClient },
  'POST /api/v1/sign-in-providers': {},
  'PATCH /api/v1/sign-in-providers/{id}': { subject: provider },
  'DELETE /api/v1/sign-in-providers/{id}': { subject: provider },
  'DELETE /api/v1/accounts/{id}': { subject: account },
  'POST /api/v1/identities': {
    makeBody: async portico => ({
      provider: await provider(portico),
      principal: await principal(portico),
      subject: 'ada',
    }),
  },
  'DELETE /api/v1/identities/{id}': { subject: identity },
  'DELETE /api/v1/passkeys/{id}': { subject: passkey },
  'POST /api/v1/principals': {},
  'PATCH /api/v1/principals/{id}': { subject: principal },
  'DELETE /api/v1/principals/{id}': { subject: principal },
  'POST /api/v1/access/rules': {},
  'PATCH /api/v1/access/rules/{id}': { subject: rule },
  'DELETE /api/v1/access/rules/{id}': { subject: rule },
  'POST /api/v1/ask/allowlist': {},
  'DELETE /api/v1/ask/allowlist/{id}': { subject: allowed },
  'POST /api/v1/budgets': { makeBody: async () => budgetBody() },
  'PATCH /api/v1/budgets/{id}': { subject: budget },
  'DELETE /api/v1/budgets/{id}': { subject: budget },
  'POST /api/v1/cache/rules': {
    makeBody: async portico => ({ server: await server(portico), tool: 'get', ttl_seconds: 60 }),
  },
  'PATCH /api/v1/cache/rules/{id}': { subject: cacheRule },
  'DELETE /api/v1/cache/rules/{id}': { subject: cacheRule },
  'POST /api/v1/skills': {},
  'PATCH /api/v1/skills/{id}': { subject: skill },
  'DELETE /api/v1/skills/{id}': { subject: skill },
  'POST /api/v1/skills/suggestions/{id}/approve': { subject: suggestion },
  'POST /api/v1/skills/suggestions/{id}/merge': { subject: suggestion },
  'POST /api/v1/skills/suggestions/{id}/reject': { subject: suggestion },
  [`POST ${SERVER}/{id}/classify`]: { subject: server },
  [`PUT ${SERVER}/{id}/tools/{tool}/skills`]: { subject: portico => withTool(portico, false) },
  [`DELETE ${SERVER}/{id}/tools/{tool}/skills`]: { subject: portico => withTool(portico, true) },
  'POST /api/v1/toolsets': {},
  'PATCH /api/v1/toolsets/{id}': { subject: toolset },
  'DELETE /api/v1/toolsets/{id}': { subject: toolset },
};
