/** Connectors in the Worker: enrolment, registration, one live machine, and the use of its channel. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { listChain } from '../../../src/audit/audit-store.ts';
import { toJsonFrame } from '../../../src/upstream/connector/frames.ts';
import {
  call,
  connectedProgram,
  advertise,
  SELF,
  textOf,
  type Offered,
} from '../support/connected-program.ts';
import { enrol, FakeMachine } from '../support/fake-machine.ts';
import { toolOf } from '../support/fake-server.ts';
import {
  ADMIN,
  PATIENT,
  SERVERS,
  createPortico,
  createToken,
  modern,
  whenServer,
  type ServerView,
} from '../support/portico.ts';
import { turnsDuring } from '../support/turns.ts';

const portico = createPortico();

interface Page {
  connectors: { name: string }[];
  next_cursor?: string;
  total: number;
}

describe('enrolment', () => {
  it('[CLI-1] [SEC-1] shows a device token once and stores none', async () => {
    const { id, token } = await enrol(portico, 'once');
    expect(token).toMatch(/^portico_device_[A-Za-z0-9_-]{43}$/);
    const shown = await (await portico.api('GET', `/api/v1/connectors/${id}`)).text();
    const { results } = await env.DB.prepare('SELECT * FROM connectors').all();
    expect([shown, JSON.stringify(results)].filter(text => text.includes(token))).toEqual([]);
    expect(JSON.parse(shown)).toMatchObject({
      id,
      name: 'once',
      status: 'DISCONNECTED',
      last_seen_at: null,
    });
    expect((await portico.api('POST', '/api/v1/connectors', { name: 'ONCE' })).status).toBe(409);
    await enrol(portico, 'other');
    const path = '/api/v1/connectors?limit=1';
    const first = await (await portico.api('GET', path)).json<Page>();
    const rest = await portico.api('GET', `${path}&cursor=${first.next_cursor}`);
    const { connectors, total } = await rest.json<Page>();
    const names = [...first.connectors, ...connectors].map(({ name }) => name);
    expect([names, total]).toEqual([['once', 'other'], 2]);
  });

  it('[CLI-1] [ACC-2] accepts a device token for nothing else, and no other token instead of one', async () => {
    const { token } = await enrol(portico, 'narrow');
    expect((await portico.api('GET', SERVERS, undefined, { token })).status).toBe(401);
    expect((await portico.post(modern('tools/list').message, { token })).status).toBe(401);
    for (const other of [ADMIN, null]) {
      const refused = await portico.api('PUT', SELF, { servers: [] }, { token: other });
      expect(refused.status).toBe(401);
    }
    expect(await new FakeMachine({}).dial(portico, `portico_device_${'x'.repeat(43)}`)).toBe(401);
  });

  it('[CLI-1] disconnects the machine of a revoked connector', async () => {
    const { connectorId, token, machine, id } = await connectedProgram(portico, 'revoked');
    expect((await portico.api('DELETE', `/api/v1/connectors/${connectorId}`)).status).toBe(204);
    await vi.waitFor(
      () => expect([machine.bye, machine.closeCode]).toEqual(['revoked', 4401]),
      PATIENT,
    );
    expect(await new FakeMachine({}).dial(portico, token)).toBe(401);
    expect((await advertise(portico, token, 'revoked')).status).toBe(401);
    expect(await textOf(await call(portico, 'revoked.echo'))).toContain('not connected');
    expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
  });
});

describe('a token that is rotated', () => {
  const rotate = (id: string, from = portico, token = ADMIN) =>
    from.api('POST', `/api/v1/connectors/${id}/rotate`, undefined, { token });

  it('[CLI-1] [SEC-1] [SEC-6] gives the servers to the machine with the new one', async () => {
    const { connectorId, token, machine, id, server } = await connectedProgram(portico, 'rotated');
    const response = await rotate('rotated-box');
    expect(response.status).toBe(200);
    const made = await response.json<{ connector: { id: string }; token: string }>();
    expect(made.connector).toMatchObject({ id: connectorId, name: 'rotated-box' });
    expect(made.token).toMatch(/^portico_device_[A-Za-z0-9_-]{43}$/);
    await vi.waitFor(() => expect(machine.bye).toBe('revoked'), PATIENT);
    expect(await new FakeMachine({}).dial(portico, token)).toBe(401);
    const next = new FakeMachine({ rotated: server.handle });
    const { servers } = await (await advertise(portico, made.token, 'rotated')).json<Offered>();
    expect(servers).toMatchObject([{ id, problem: null }]);
    expect(await next.dial(portico, made.token)).toBe(101);
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    expect(await textOf(await call(portico, 'rotated.echo'))).not.toContain('not connected');
    const rows = (await listChain(env.DB, 'admin', 1, 10_000)).filter(
      ({ action }) => action === 'connector.rotate',
    );
    expect(rows).toMatchObject([{ outcome: 'done', detail: { name: 'rotated-box' } }]);
    expect(JSON.stringify(rows)).not.toContain(made.token);
  });

  it('[ACC-2] is refused to a reader, and for an unknown connector', async () => {
    const { id } = await enrol(portico, 'guarded');
    const { token } = await createToken(portico, { scopes: ['servers:read'] });
    expect((await rotate(id, portico, token)).status).toBe(403);
    expect((await rotate('nobody')).status).toBe(404);
  });
});

describe.each([
  ['its revocation', 'DELETE', ''],
  ['the rotation of its token', 'POST', '/rotate'],
])('if the notification of %s is lost', (_, method, verb) => {
  it('[CLI-1] the machine is still disconnected', async () => {
    const { connectorId, machine } = await connectedProgram(portico, `unsaid-${method}`);
    const line = env.CONNECTOR.getByName(connectorId);
    const deaf = createPortico({
      CONNECTOR: {
        getByName: () => ({
          // The test decides when its alarm runs.
          expectRevocation: async () => {
            await line.expectRevocation();
            await runInDurableObject(line, async (__, { storage }) =>
              storage.setAlarm(((await storage.getAlarm()) ?? Number.NaN) + 60_000),
            );
          },
          revoke: () => Promise.reject(new Error('lost')),
        }),
      } as unknown as typeof env.CONNECTOR,
    });
    const path = `/api/v1/connectors/${connectorId}`;
    expect((await deaf.api(method, `${path}${verb}`)).ok).toBe(true);
    expect(machine.bye).toBeUndefined();
    expect(await runDurableObjectAlarm(line)).toBe(true);
    await vi.waitFor(
      () => expect([machine.bye, machine.closeCode]).toEqual(['revoked', 4401]),
      PATIENT,
    );
  });
});

it('[CLI-1] stays connected if a rotation was announced but not done', async () => {
  const { connectorId, machine, id } = await connectedProgram(portico, 'announced');
  const line = env.CONNECTOR.getByName(connectorId);
  await line.expectRevocation();
  expect(await runDurableObjectAlarm(line)).toBe(true);
  expect(machine.bye).toBeUndefined();
  expect(await textOf(await call(portico, 'announced.echo'))).not.toContain('not connected');
  expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
});

describe('registration', () => {
  it('[CLI-1] [REG-1] [SEC-6] registers what a connector offers, once, and reports a name that is taken', async () => {
    const { id: connector, token } = await enrol(portico, 'offers');
    const taken = {
      name: 'taken',
      transport_type: 'HTTP',
      connection_config: { url: 'https://taken.example.com/mcp' },
    };
    await portico.api('POST', SERVERS, { ...taken, auto_connect: false });
    const first = await (await advertise(portico, token, 'files-1', 'taken')).json<Offered>();
    expect(first.servers[0]).toMatchObject({
      name: 'files-1',
      registered_as: 'files-1',
      problem: null,
    });
    expect(first.servers[1]).toEqual({
      name: 'taken',
      id: null,
      registered_as: null,
      problem: 'A server named taken exists already',
    });
    const id = first.servers[0]?.id ?? '';
    const rows = (await listChain(env.DB, 'admin', 1, 10_000)).filter(row => row.subject === id);
    const by = { principalId: `connector:${connector}`, tokenId: connector };
    expect(rows).toMatchObject([{ ...by, action: 'server.create', outcome: 'done' }]);
    await portico.api('PATCH', `${SERVERS}/${id}`, { name: 'papers' });
    const again = await (await advertise(portico, token, 'files-1')).json<Offered>();
    expect(again.servers).toEqual([
      { name: 'files-1', id, registered_as: 'papers', problem: null },
    ]);
    const record = await (await portico.api('GET', `${SERVERS}/${id}`)).json<ServerView>();
    expect(record).toMatchObject({
      transport_type: 'STDIO',
      connection_config: { server: 'files-1' },
    });
    const moved = { connection_config: { url: 'https://elsewhere.example.com/mcp' } };
    expect((await portico.api('PATCH', `${SERVERS}/${id}`, moved)).status).toBe(422);
  });

  it('[CLI-1] [SEC-4] accepts the configured number of servers of a connector, and reports the others', async () => {
    const narrow = createPortico({ PORTICO_CONNECTOR_SERVERS: '2' });
    const { token } = await enrol(narrow, 'many');
    const first = await (
      await advertise(narrow, token, 'many-1', 'many-2', 'many-3')
    ).json<Offered>();
    expect(first.servers.map(({ registered_as: as }) => as)).toEqual(['many-1', 'many-2', null]);
    expect(first.servers[2]?.problem).toContain('PORTICO_CONNECTOR_SERVERS');
    const again = await (await advertise(narrow, token, 'many-3', 'many-1')).json<Offered>();
    expect(again.servers.map(({ registered_as: as }) => as)).toEqual([null, 'many-1']);
    await portico.api('DELETE', `${SERVERS}/${first.servers[0]?.id}`);
    const freed = await (await advertise(narrow, token, 'many-3')).json<Offered>();
    expect(freed.servers[0]).toMatchObject({ registered_as: 'many-3', problem: null });
  });

  it('[REG-1] [CLI-1] says which command to run if a program is registered without a connector', async () => {
    const body = {
      name: 'cmd',
      transport_type: 'STDIO',
      connection_config: { command: 'npx', args: [] },
    };
    const refused = await portico.api('POST', SERVERS, body);
    expect(refused.status).toBe(422);
    const { errors } = await refused.json<{ errors: { field: string; message: string }[] }>();
    expect(errors.find(({ field }) => field === 'connection_config.connector')?.message).toContain(
      'portico connect',
    );
    const unknown = { ...body, connection_config: { connector: 'nobody', server: 'x' } };
    expect((await portico.api('POST', SERVERS, unknown)).status).toBe(422);
    const { id } = await enrol(portico, 'by-hand');
    const known = {
      ...body,
      name: 'by-hand',
      connection_config: { connector: 'by-hand', server: 'x' },
    };
    const made = await portico.api('POST', SERVERS, known);
    expect([
      made.status,
      (await made.json<{ connection_config: object }>()).connection_config,
    ]).toEqual([
      201,
      { url: `connector://${id}/x`, headers: {}, auth: null, connector: id, server: 'x' },
    ]);
    expect((await portico.api('POST', SERVERS, { ...known, name: 'twice' })).status).toBe(409);
  });
});

describe('the channel', () => {
  it('[CLI-1] belongs to the newest machine', async () => {
    const { server, machine, token, id } = await connectedProgram(portico, 'newest');
    const next = new FakeMachine({ newest: server.handle });
    expect(await next.dial(portico, token)).toBe(101);
    await vi.waitFor(
      () => expect([machine.bye, machine.closeCode]).toEqual(['replaced', 4409]),
      PATIENT,
    );
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    expect(await textOf(await call(portico, 'newest.echo', { n: 1 }))).toBe('{"n":1}');
  });

  it('[CLI-1] causes a discovery when the machine announces a changed server', async () => {
    const { server, machine, id } = await connectedProgram(portico, 'news');
    server.tools = [toolOf('echo'), toolOf('more')];
    machine.send(toJsonFrame('news', 0, { server: 'news' }));
    await whenServer(portico, id, ({ tool_count: tools }) => tools === 2);
    expect(server.tools).toHaveLength(2);
  });

  it('[CLI-1] ends if the machine breaks the protocol', async () => {
    const { token } = await enrol(portico, 'babble');
    const machine = new FakeMachine({});
    await machine.dial(portico, token);
    machine.send(new Uint8Array([255, 0, 0, 0, 0]));
    await vi.waitFor(
      () => expect([machine.bye, machine.closeCode]).toEqual(['protocol', 1002]),
      PATIENT,
    );
  });

  it('[CLI-1] [ACC-1] is refused to web pages and plain requests', async () => {
    const { token } = await enrol(portico, 'plain');
    const authorization = `Bearer ${token}`;
    expect((await portico.fetch('/connect', { headers: { authorization } })).status).toBe(400);
    const headers = {
      authorization,
      upgrade: 'websocket',
      'sec-websocket-protocol': 'portico.connector.v1',
      origin: 'http://127.0.0.1:8787',
    };
    expect((await portico.fetch('/connect', { headers })).status).toBe(403);
  });
});

it('[CLI-3] [UP-5] does not block requests while many servers are registered', async () => {
  const { token } = await enrol(portico, 'crowd');
  const names = Array.from({ length: 30 }, (_, at) => `crowd-${at}`);
  const { done, turns } = await turnsDuring(() => advertise(portico, token, ...names));
  const { servers } = await done.json<Offered>();
  expect(servers.filter(({ id }) => id !== null)).toHaveLength(names.length);
  expect(turns).toBeGreaterThanOrEqual(names.length);
});
