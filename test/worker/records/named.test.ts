/** Records that can be asked for by their name: what is done to them is recorded under their id, like anything else about them. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createPerson } from '../support/call-rows.ts';
import { createPortico, register } from '../support/portico.ts';

const portico = createPortico();
let made = 0;

type Asked = [method: string, suffix: string, body?: object];

/** Makes a record, asks this of it by its name, and deletes it by its name. @returns the acts and the subjects of its rows */
async function actOn(path: string, body: object, acts: readonly Asked[]) {
  const name = `known-${(made += 1)}`;
  const response = await portico.api('POST', path, { name, ...body });
  const id = response.headers.get('location')?.split('/').at(-1) ?? '';
  for (const [method, suffix, ...rest] of [...acts, ['DELETE', ''] as const]) {
    const { status } = await portico.api(method, `${path}/${name}${suffix}`, ...rest);
    expect([method, suffix, status]).toEqual([method, suffix, method === 'DELETE' ? 204 : 200]);
  }
  const rows = env.DB.prepare(
    'SELECT action, subject FROM audit_events WHERE subject IN (?, ?) ORDER BY seq',
  );
  const { results } = await rows.bind(id, name).all<{ action: string; subject: string }>();
  return results.map(({ action, subject }) => [action, subject === id ? 'id' : subject]);
}

it('[SEC-6] a webhook', async () => {
  const body = { url: 'https://hooks.example.com/' };
  const rows = await actOn('/api/v1/webhooks', body, [
    ['PATCH', '', { enabled: false }],
    ['POST', '/rotate'],
  ]);
  const verbs = ['create', 'update', 'rotate', 'delete'];
  expect(rows).toEqual(verbs.map(verb => [`webhook.${verb}`, 'id']));
});

it('[SEC-6] a webhook, also where the act is refused', async () => {
  const path = '/api/v1/webhooks';
  const body = { name: 'refused', url: 'https://hooks.example.com/' };
  const id = (await portico.api('POST', path, body)).headers.get('location')?.split('/').at(-1);
  const headers = { 'if-match': '"r9"' };
  const { status } = await portico.api('PATCH', `${path}/REFUSED`, { enabled: false }, { headers });
  expect(status).toBe(412);
  const { results } = await env.DB.prepare(
    "SELECT subject FROM audit_events WHERE action = 'webhook.update' AND outcome = 'failed'",
  ).all();
  expect(results).toEqual([{ subject: id }]);
});

it('[SEC-6] a connector', async () => {
  const rows = await actOn('/api/v1/connectors', {}, [['POST', '/rotate']]);
  expect(rows).toEqual(['create', 'rotate', 'delete'].map(verb => [`connector.${verb}`, 'id']));
});

it('[SEC-6] the server of an account', async () => {
  const more = { accounts: 'per_principal', auto_connect: false };
  const { id } = await register(portico, 'known', more);
  const { token } = await createPerson(portico);
  const account = { server: 'known', token: 'pasted' };
  expect((await portico.api('POST', '/api/v1/accounts', account, { token })).status).toBe(201);
  const { results } = await env.DB.prepare(
    "SELECT subject FROM audit_events WHERE action = 'account.connect'",
  ).all();
  expect(results).toEqual([{ subject: id }]);
});
