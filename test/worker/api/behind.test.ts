/** A database that lacks a migration of the code: requests that need it are refused as a whole with a clear error, and the rest works. */
import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPortico } from '../support/portico.ts';

const NAME = '0030_record_owners.sql';
const portico = createPortico();
const owner = { headers: { 'portico-owner': 'file/someone' } };
const refused = { code: 'migrations_pending', detail: `The database lacks the migration ${NAME}` };

interface Kept {
  name: string;
  sql: string;
}
let kept: Kept[];

beforeAll(async () => {
  const select = `SELECT name, sql FROM sqlite_master WHERE sql LIKE '%record_owners%' ORDER BY type = 'trigger'`;
  ({ results: kept } = await env.DB.prepare(select).all<Kept>());
  const triggers = kept.slice(1).map(({ name }) => env.DB.prepare(`DROP TRIGGER ${name}`));
  const forget = env.DB.prepare('DELETE FROM d1_migrations WHERE name = ?').bind(NAME);
  await env.DB.batch([...triggers, env.DB.prepare('DROP TABLE record_owners'), forget]);
});

afterAll(async () => {
  const note = env.DB.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(NAME);
  await env.DB.batch([...kept.map(({ sql }) => env.DB.prepare(sql)), note]);
});

it('[OPS-4] refuses a request that needs it, changes nothing, and leaves an audit row', async () => {
  const create = await portico.api('POST', '/api/v1/principals', { name: 'owned' }, owner);
  expect([create.status, await create.json()]).toEqual([503, expect.objectContaining(refused)]);
  const owners = await portico.api('GET', '/api/v1/owners');
  expect([owners.status, await owners.json()]).toEqual([503, expect.objectContaining(refused)]);
  const found = await env.DB.prepare("SELECT * FROM principals WHERE name = 'owned'").all();
  expect(found.results).toEqual([]);
  const rows = await env.DB.prepare('SELECT action, outcome FROM audit_events ORDER BY at').all();
  expect(rows.results).toEqual([{ action: 'principal.create', outcome: 'failed' }]);
});

it('[OPS-4] serves what needs no new migration', async () => {
  const created = await portico.api('POST', '/api/v1/principals', { name: 'by hand' });
  expect(created.status).toBe(201);
  const { id } = await created.json<{ id: string }>();
  const path = `/api/v1/principals/${id}`;
  expect((await portico.api('PATCH', path, { name: 'edited' })).status).toBe(200);
  expect((await portico.api('DELETE', path)).status).toBe(204);
});

it('[OPS-4] does not blame it for other errors', async () => {
  expect((await portico.api('GET', '/api/v1/principals/nobody')).status).toBe(404);
  expect((await portico.api('POST', '/api/v1/principals', {})).status).toBe(422);
});
