/** The audit for people who are no administrators: their own calls, in list and export; what others did looks as if it never happened. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPerson, rowsOf, type Person } from '../support/call-rows.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { connect, createClient, signIn } from '../support/oauth-client.ts';
import { createPortico, createToken, ORIGIN, registerConnected } from '../support/portico.ts';

interface Event {
  id: string;
  token: string;
  principal: string;
  action: string;
  subject: string;
  subject_name: string | null;
  outcome: string;
  code: string | null;
  detail: Record<string, unknown>;
}

const AUDIT = '/api/v1/audit';
const portico = createPortico();
let ada: Person;
let bo: Person;

const get = async (token: string, path: string) => {
  const response = await portico.api('GET', path, undefined, { token });
  return { status: response.status, text: await response.text() };
};
const eventsOf = async (token: string, query = ''): Promise<Event[]> => {
  const { status, text } = await get(token, `${AUDIT}?limit=500&${query}`);
  expect(status).toBe(200);
  return (JSON.parse(text) as { events: Event[] }).events;
};
const exported = async (token: string, query = ''): Promise<Event[]> => {
  const { status, text } = await get(token, `${AUDIT}/export?${query}`);
  expect(status).toBe(200);
  const lines = text.split('\n').filter(line => line !== '');
  return lines.map(line => JSON.parse(line) as Event);
};
const call = (token: string, name: string) =>
  portico.api('POST', '/api/v1/tools/call', { name, arguments: { a: 1 } }, { token });
const subjectsOf = (events: readonly Event[]) => events.map(({ subject }) => subject).toSorted();
const tokenIdOf = async (token: string) => {
  const { text } = await get(token, '/api/v1/token');
  return (JSON.parse(text) as { id: string }).id;
};

beforeAll(async () => {
  serve({ notes: new FakeServer({ tools: [toolOf('one'), toolOf('two'), toolOf('three')] }) });
  await registerConnected(portico, 'notes');
  ada = await createPerson(portico, { name: 'Ada' });
  bo = await createPerson(portico, { name: 'Bo' });
  await call(ada.token, 'notes.one');
  await call(bo.token, 'notes.two');
  for (const person of [ada, bo]) await rowsOf(portico, person);
});

describe('a member', () => {
  it('[SEC-6] [ACC-9] sees their own calls, and no row of others', async () => {
    for (const read of [eventsOf, exported]) {
      expect(subjectsOf(await read(ada.token))).toEqual(['notes.one']);
      expect(subjectsOf(await read(bo.token))).toEqual(['notes.two']);
    }
    const [event] = await eventsOf(ada.token);
    expect(event).toMatchObject({ principal: ada.principalId, outcome: 'done' });
  });

  it('[SEC-6] [ACC-9] finds nothing by names of others, as by unknown names', async () => {
    const boToken = await tokenIdOf(bo.token);
    const others = [
      'principal=Bo',
      `principal=${bo.principalId}`,
      `token=${boToken}`,
      'principal=setup-admin',
      'tool=notes.two',
      'action=server.create',
      'kind=acts',
      'subject=notes',
    ];
    for (const query of others)
      expect([query, await eventsOf(ada.token, query)]).toEqual([query, []]);
    expect(await eventsOf(ada.token, 'principal=nobody')).toEqual([]);
    for (const query of ['principal=Ada', 'server=notes', 'tool=notes.one', 'kind=calls']) {
      expect([query, subjectsOf(await eventsOf(ada.token, query))]).toEqual([query, ['notes.one']]);
    }
  });

  it('[SEC-6] [ACC-9] can continue only after a row of their own', async () => {
    const [own] = await eventsOf(ada.token);
    const [other] = await eventsOf(bo.token);
    const admin = await portico.api('GET', `${AUDIT}?action=server.create`);
    const [act] = (await admin.json<{ events: Event[] }>()).events;
    const after = async (id: string | undefined) =>
      get(ada.token, `${AUDIT}/export?after=${id ?? ''}`);
    expect((await after(own?.id)).status).toBe(200);
    const unknown = await after('00000000-0000-4000-8000-000000000000');
    expect(unknown.status).toBe(404);
    expect(await after(other?.id)).toEqual(unknown);
    expect(await after(act?.id)).toEqual(unknown);
  });

  it('[SEC-6] [ACC-9] learns no name of a server by its id, or by a former name', async () => {
    const [created] = (
      await (await portico.api('GET', `${AUDIT}?action=server.create`)).json<{ events: Event[] }>()
    ).events;
    // An administrator finds the calls of a server by its id.
    const found = await portico.api('GET', `${AUDIT}?server=${created?.subject}&kind=calls`);
    expect((await found.json<{ events: Event[] }>()).events.length).toBeGreaterThan(0);
    expect(await eventsOf(ada.token, `server=${created?.subject}`)).toEqual([]);
  });

  it('[SEC-6] [ACC-9] sees the same for a hidden tool as for one that does not exist', async () => {
    const eve = await createPerson(portico, { name: 'Eve' });
    const rule = { effect: 'deny', subject: { kind: 'principal', id: eve.principalId } };
    await portico.api('POST', '/api/v1/access/rules', { ...rule, server: 'notes' });
    await call(eve.token, 'notes.one');
    await call(eve.token, 'noted.one');
    await rowsOf(portico, eve);
    const told = (await eventsOf(eve.token)).map(
      ({ subject, subject_name, outcome, code, detail }) =>
        JSON.stringify([subject, subject_name, outcome, code, Object.keys(detail).toSorted()]),
    );
    expect(told).toHaveLength(2);
    expect(new Set(told.map(text => text.replaceAll('noted', 'notes'))).size).toBe(1);
  });

  it('[SEC-6] [ACC-2] needs a token that may use tools, and cannot verify chains', async () => {
    const { token } = await createToken(portico, { scopes: ['servers:read', 'secrets:write'] });
    for (const path of [AUDIT, `${AUDIT}/export`])
      expect((await get(token, path)).status).toBe(403);
    for (const path of [`${AUDIT}/verify`, `${AUDIT}/shards`]) {
      expect((await get(ada.token, path)).status).toBe(403);
    }
  });
});

describe('of several tokens of a person', () => {
  it('[SEC-6] [ACC-9] each sees what it may: all calls, its own, or none of one that administers', async () => {
    const principal = bo.principalId;
    const make = async (more: object) => createToken(portico, { principal, ...more });
    const strong = await make({ scopes: ['admin', 'tools:read', 'tools:call'] });
    const narrow = await make({ servers: ['notes'] });
    const made = await portico.api(
      'POST',
      '/api/v1/tokens',
      { name: 'client' },
      { token: bo.token },
    );
    const client = await made.json<{ token: string }>();
    await call(strong.token, 'notes.three');
    await call(narrow.token, 'notes.one');
    await call(client.token, 'notes.one');
    await rowsOf(portico, bo);
    const calls = async (token: string) => subjectsOf(await eventsOf(token, 'kind=calls'));
    expect(await calls(bo.token)).toEqual(['notes.one', 'notes.one', 'notes.two']);
    expect(await calls(narrow.token)).toEqual(['notes.one']);
    expect(await calls(client.token)).toEqual(['notes.one']);
    const acts = async (token: string) =>
      (await eventsOf(token, 'kind=acts')).map(({ action }) => action);
    expect(await acts(bo.token)).toEqual(['token.create']);
    expect(await acts(client.token)).toEqual([]);
    // An administrator sees all.
    expect((await eventsOf(strong.token)).length).toBeGreaterThan(6);
  });

  it('[SEC-6] [ACC-7] a sign-in sees the calls of the clients, and an authorized program its own', async () => {
    const eve = await createPerson(portico, { name: 'Eve' });
    const clientId = await createClient();
    const program = await connect(portico, clientId, eve.token, { resource: ORIGIN });
    await call(eve.token, 'notes.one');
    await call(program.access_token, 'notes.two');
    await rowsOf(portico, eve);
    expect(subjectsOf(await eventsOf(program.access_token))).toEqual(['notes.two']);
    const browser = await signIn(portico, eve.token);
    await env.DB.prepare('UPDATE sign_ins SET token_id = NULL WHERE principal_id = ?')
      .bind(eve.principalId)
      .run();
    const headers = { cookie: browser.cookie, 'sec-fetch-site': 'same-origin' };
    const answer = await createPortico().fetch(`${AUDIT}?kind=calls`, { headers });
    const { events } = await answer.json<{ events: Event[] }>();
    expect(subjectsOf(events)).toEqual(['notes.one', 'notes.two']);
  });

  it('[SEC-6] [ACC-7] a token that administers nothing sees no call of a sign-in that administers', async () => {
    const kim = await createPerson(portico, { name: 'Kim' });
    const browser = await signIn(portico, kim.token);
    const make = (sql: string) => env.DB.prepare(sql).bind(kim.principalId).run();
    await make(`UPDATE principals SET scopes = '["admin"]' WHERE id = ?`);
    await make('UPDATE sign_ins SET token_id = NULL WHERE principal_id = ?');
    await portico.fetch('/api/v1/tools/call', {
      method: 'POST',
      body: JSON.stringify({ name: 'notes.three', arguments: {} }),
      headers: {
        cookie: browser.cookie,
        'sec-fetch-site': 'same-origin',
        origin: ORIGIN,
        'content-type': 'application/json',
      },
    });
    await call(kim.token, 'notes.one');
    expect((await rowsOf(portico, kim)).map(({ subject }) => subject)).toContain('notes.three');
    expect(subjectsOf(await eventsOf(kim.token, 'kind=calls'))).toEqual(['notes.one']);
  });
});
