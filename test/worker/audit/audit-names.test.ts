/** Names in the audit: beside the ids of its rows, and accepted instead of ids in a search. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createPerson, rowsOf, type Person } from '../support/call-rows.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  register,
  registerConnected,
  SERVERS,
} from '../support/portico.ts';

const AUDIT = '/api/v1/audit';
const portico = createPortico();
let ada: string;
let laptop: { id: string; token: string };
let server: string;

interface Row {
  id: string;
  action: string;
  principal: string;
  principal_name: string | null;
  token: string;
  token_name: string | null;
  subject: string;
  subject_name: string | null;
}

async function search(query: Record<string, string>): Promise<Row[]> {
  const response = await portico.api('GET', `${AUDIT}?${new URLSearchParams(query).toString()}`);
  expect(response.status).toBe(200);
  return (await response.json<{ events: Row[] }>()).events;
}
const actionsOf = async (query: Record<string, string>) =>
  (await search(query)).map(({ action }) => action);

beforeAll(async () => {
  const made = await portico.api('POST', '/api/v1/principals', { name: 'Ada' });
  ada = (await made.json<{ id: string }>()).id;
  const scopes = ['servers:write', 'tools:read', 'tools:call'];
  laptop = await createToken(portico, { name: 'laptop', principal: ada, scopes });
  server = (await register(portico, 'git-hub', { auto_connect: false })).id;
  await portico.api('POST', `${SERVERS}/${server}/disconnect`, undefined, { token: laptop.token });
});

describe('a row of the audit', () => {
  it('[SEC-6] has names beside its ids, also in the export', async () => {
    const [row] = await search({ action: 'server.disconnect' });
    const names = {
      principal: ada,
      principal_name: 'Ada',
      token: laptop.id,
      token_name: 'laptop',
      subject: server,
      subject_name: 'git-hub',
    };
    expect(row).toMatchObject(names);
    const exported = await portico.api('GET', `${AUDIT}/export?action=server.disconnect`);
    expect(JSON.parse(await exported.text())).toEqual(row);
    expect((await search({ action: 'token.create' })).at(-1)).toMatchObject({
      principal_name: 'setup-admin',
      token_name: 'setup-admin',
      subject_name: 'laptop',
    });
  });

  it('[SEC-6] has the current name, or the last one of a deleted record', async () => {
    await portico.api('PATCH', `${SERVERS}/${server}`, { name: 'hub' });
    expect((await search({ action: 'server.disconnect' }))[0]?.subject_name).toBe('hub');
    const gone = await createToken(portico, { name: 'lost' });
    await portico.api('DELETE', `/api/v1/tokens/${gone.id}`);
    const [deleted] = await search({ subject: gone.id, action: 'token.delete' });
    expect(deleted?.subject_name).toBe('lost');
    const unknown = crypto.randomUUID();
    await portico.api('DELETE', `/api/v1/tokens/${unknown}`);
    expect((await search({ subject: unknown }))[0]?.subject_name).toBeNull();
  });

  it('[SEC-6] of a connector names it, as the actor and as the subject', async () => {
    const made = await portico.api('POST', '/api/v1/connectors', { name: 'build-box' });
    const { token } = await made.json<{ token: string }>();
    const offers = { servers: [{ name: 'files' }] };
    await portico.api('PUT', '/api/v1/connectors/self/servers', offers, { token });
    const [row] = await search({ principal: 'build-box' });
    expect(row).toMatchObject({
      action: 'server.create',
      principal_name: 'build-box',
      token_name: 'build-box',
      subject_name: 'files',
    });
    expect(await search({ token: 'build-box' })).toEqual([row]);
    expect(await actionsOf({ subject: 'build-box' })).toEqual(['connector.create']);
  });
});

describe('a search of the audit', () => {
  let person: Person;
  beforeAll(async () => {
    serve({ named: new FakeServer() });
    await registerConnected(portico, 'named');
    person = await createPerson(portico, { name: 'caller' });
    const call = { name: 'named.echo' };
    await portico.api('POST', '/api/v1/tools/call', call, { token: person.token });
    await rowsOf(portico, person);
  });

  it('[SEC-6] accepts names of principals, tokens, subjects and servers, or ids', async () => {
    for (const principal of [ada, 'Ada', 'ada'])
      expect(await actionsOf({ principal })).toEqual(['server.disconnect']);
    for (const token of [laptop.id, 'laptop'])
      expect(await actionsOf({ token })).toEqual(['server.disconnect']);
    expect(await actionsOf({ subject: 'laptop' })).toEqual(['token.create']);
    for (const id of [server, 'hub', 'HUB']) {
      expect(await actionsOf({ server: id })).toEqual([
        'server.update',
        'server.disconnect',
        'server.create',
      ]);
    }
    expect(await actionsOf({ server: 'named' })).toEqual(['tool.call', 'server.create']);
    expect(await actionsOf({ server: 'named', principal: 'caller' })).toEqual(['tool.call']);
    for (const tool of ['named.echo', 'named:echo', 'named__echo', 'named/echo'])
      expect(await actionsOf({ tool, principal: 'caller' })).toEqual(['tool.call']);
    expect(await actionsOf({ tool: 'named.echo', subject: 'named.other' })).toEqual([]);
    expect(await actionsOf({ tool: 'echo' })).toEqual([]);
    expect(await actionsOf({ principal: 'nobody' })).toEqual([]);
    expect(await actionsOf({ server: 'name' })).toEqual([]);
  });

  it('[SEC-6] finds a deleted record by its last name', async () => {
    const made = await portico.api('POST', '/api/v1/principals', { name: 'Left' });
    const { id } = await made.json<{ id: string }>();
    const scopes = ['servers:write'];
    const { token } = await createToken(portico, { name: 'desk', principal: id, scopes });
    await portico.api('POST', `${SERVERS}/none/connect`, undefined, { token });
    await portico.api('DELETE', `/api/v1/principals/${id}`);
    const [row] = await search({ principal: 'left' });
    expect(row).toMatchObject({ action: 'server.connect', principal_name: 'Left' });
    expect(row).toMatchObject({ token_name: 'desk', subject_name: 'none' });
  });
});
