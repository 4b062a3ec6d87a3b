/** Calls and their audit rows: one for each, with one end, without secrets, in every recording mode. */
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { readCalls } from '../../../src/audit/chunks/read-calls.ts';
import { createPerson, heldCalls, rowsOf, type Person } from '../support/call-rows.ts';
import { FakeServer, resultOf, serve, streamOf } from '../support/fake-server.ts';
import {
  call,
  connect,
  createStream,
  ERAS,
  portico,
  progress,
  readNext,
  responseTo,
} from '../support/live-calls.ts';
import {
  ask,
  createPortico,
  initialize,
  legacy,
  modern,
  PATIENT,
  registerConnected,
  SERVERS,
} from '../support/portico.ts';

const CANARY = 'canary-5b1f-value';

describe.each(['batched', 'durable', 'before'] as const)('recorded %s', mode => {
  const sender = createPortico({ PORTICO_AUDIT_CALLS: mode });
  let person: Person;
  beforeAll(async () => {
    person = await createPerson(sender);
  });

  /** The single row that a call leaves. */
  async function rowOf(act: () => Promise<unknown>, who = person) {
    const before = (await rowsOf(sender, who)).length;
    await act();
    const rows = (await rowsOf(sender, who)).slice(before);
    expect(rows).toHaveLength(1);
    return rows[0];
  }

  const post = (asked: { message: unknown; headers: Record<string, string> }, who = person) =>
    sender
      .post(asked.message, { headers: asked.headers, token: who.token })
      .then(response => response.text());

  describe.each(ERAS)('a call of a %s client', era => {
    it('[SEC-6] that streams has one row, which ends with its last message', async () => {
      const { name, server } = await connect(era, false, sender);
      let stream: ReturnType<typeof createStream> | undefined;
      server.call = received => {
        stream = createStream(received);
        stream.write(progress(1));
        return stream.response;
      };
      const row = await rowOf(async () => {
        const { message, headers } = call(name, era);
        const response = await sender.post(message, { headers, token: person.token });
        const reader = response.body?.getReader();
        await readNext(reader);
        const open = (await heldCalls(person)).filter(({ outcome }) => outcome === null);
        expect(open).toHaveLength(mode === 'before' ? 1 : 0);
        stream?.write({
          jsonrpc: '2.0',
          id: server.of('tools/call')[0]?.id,
          result: { isError: true },
        });
        for (;;) if ((await reader?.read())?.done !== false) break;
      });
      expect(row).toMatchObject({ outcome: 'done', detail: { is_error: true } });
    });

    it.each<[string, (server: FakeServer) => void, object]>([
      [
        'tells that the tool failed',
        server => (server.call = seen => resultOf(seen, { isError: true })),
        { outcome: 'done', detail: { is_error: true } },
      ],
      [
        'tells that the server refused',
        server =>
          (server.call = seen =>
            Response.json({
              jsonrpc: '2.0',
              id: seen.id,
              error: { code: -32602, message: CANARY },
            })),
        { outcome: 'done', detail: { is_error: true, rpc_code: -32602 } },
      ],
      [
        'fails with a reset',
        server => (server.outage = () => Promise.reject(new TypeError(CANARY))),
        { outcome: 'failed', code: 'upstream_unreachable' },
      ],
      [
        'fails with a status',
        server => (server.call = () => new Response(CANARY, { status: 500 })),
        { outcome: 'failed', code: 'upstream_5xx' },
      ],
      [
        'fails in its stream',
        server => (server.call = () => streamOf(progress(1))),
        { outcome: 'failed', code: 'upstream_no_response' },
      ],
      [
        'is answered with what no client takes',
        server => (server.call = seen => resultOf(seen, { resultType: 'unheard_of' })),
        { outcome: 'failed', code: 'upstream_bad_message' },
      ],
    ])('[SEC-6] [SEC-2] that %s', async (_, prepare, expected) => {
      const { name, server } = await connect(era, false, sender);
      prepare(server);
      const row = await rowOf(() => post(call(name, era)));
      expect(row).toMatchObject(expected);
      expect(JSON.stringify(row)).not.toContain(CANARY);
    });

    it('[SEC-6] that is refused has one row too, equal for a hidden and an unknown tool', async () => {
      const { name, server } = await connect(era, false, sender);
      const other = await connect(era, false, sender);
      const blind = await createPerson(sender, { servers: [other.id] });
      const unable = await createPerson(sender, { scopes: ['tools:read'] });
      const hidden = await rowOf(() => post(call(name, era, { arguments: {} }), blind), blind);
      const unknown = await rowOf(() => post(call('nobody', era, { arguments: {} }), blind), blind);
      const code = 'tool_not_found';
      expect(hidden).toMatchObject({ subject: `${name}.echo`, outcome: 'denied', code });
      const { detail, outcome } = hidden ?? {};
      expect({ ...unknown, detail, outcome, code }).toEqual(unknown);
      const denied = await rowOf(() => post(call(name, era), unable), unable);
      expect(denied).toMatchObject({
        subject: `${name}.echo`,
        outcome: 'denied',
        code: 'forbidden',
      });
      const bad = await rowOf(() =>
        post(ask(era, 'tools/call', { name: `${name}.echo`, arguments: 1 })),
      );
      expect(bad).toMatchObject({ action: 'tool.call', outcome: 'failed', code: 'invalid_params' });
      const lister = await createPerson(sender, { scopes: ['servers:read'] });
      const listing = await rowOf(() => post(ask(era, 'tools/list'), lister), lister);
      expect(listing).toMatchObject({ action: 'tools/list', outcome: 'denied', code: 'forbidden' });
      expect(server.of('tools/call')).toEqual([]);
    });

    it('[SEC-6] to a server that is disconnected or has an open circuit has one row', async () => {
      const { name, id } = await connect(era, false, sender);
      const asked = call(name, era);
      await env.DB.prepare('UPDATE servers SET circuit_retry_at = ? WHERE id = ?')
        .bind(Date.now() + 60_000, id)
        .run();
      const fresh = createPortico({ PORTICO_AUDIT_CALLS: mode });
      const send = () =>
        fresh
          .post(asked.message, { headers: asked.headers, token: person.token })
          .then(answer => answer.text());
      const resting = await rowOf(async () => {
        await send();
        await fresh.settle();
      });
      expect(resting).toMatchObject({ outcome: 'failed', code: 'circuit_open' });
      await fresh.api('POST', `${SERVERS}/${id}/disconnect`);
      const off = await rowOf(async () => {
        const other = createPortico({ PORTICO_AUDIT_CALLS: mode });
        await other.post(asked.message, { headers: asked.headers, token: person.token });
        await other.settle();
      });
      expect(off).toMatchObject({ outcome: 'failed', code: 'server_disconnected' });
    });

    it('[SEC-6] whose client disconnects has one row that says so', async () => {
      const { name, server } = await connect(era, false, sender);
      server.call = () => new Promise<Response>(() => {});
      const leaving = new AbortController();
      const row = await rowOf(async () => {
        const { message, headers } = call(name, era);
        const sent = { headers, token: person.token, signal: leaving.signal };
        const answering = sender.post(message, sent).catch(() => undefined);
        await expect.poll(() => server.of('tools/call').length, PATIENT).toBe(1);
        leaving.abort();
        await answering;
      });
      expect(row).toMatchObject({ outcome: 'cancelled', code: null });
    });
  });

  describe('an audited call', () => {
    it('[SEC-6] through REST, and what REST refuses to read', async () => {
      const { name, server } = await connect('legacy', false, sender);
      server.call = received => resultOf(received, { content: [] });
      const body = { name: `${name}.echo`, arguments: { n: 1 } };
      const { token } = person;
      const row = await rowOf(() => sender.api('POST', '/api/v1/tools/call', body, { token }));
      expect(row).toMatchObject({ outcome: 'done', detail: { door: 'rest', arguments: { n: 1 } } });
      const asking = await rowOf(() => {
        server.call = received => resultOf(received, { resultType: 'input_required' });
        return sender.api('POST', '/api/v1/tools/call', body, { token });
      });
      expect(asking).toMatchObject({ outcome: 'failed', code: 'upstream_needs_input' });
      const denied = await rowOf(() => sender.api('GET', '/api/v1/keys', undefined, { token }));
      expect(denied).toMatchObject({
        action: 'rest.read',
        subject: '/api/v1/keys',
        outcome: 'denied',
      });
    });

    it('[SEC-6] may be one of a batch, in a session, or of a prompt or a resource', async () => {
      const server = new FakeServer({
        era: 'legacy',
        sessionful: false,
        capabilities: { prompts: {}, resources: {} },
      });
      serve({ [`rowed-${mode}`]: server });
      await registerConnected(sender, `rowed-${mode}`);
      const { token } = person;
      const session = await initialize(portico, { token }, '/mcp', '2025-03-26');
      const headers = { 'mcp-session-id': session };
      const before = (await rowsOf(sender, person)).length;
      const batch = [1, 2, 3].map(id => legacy('tools/call', { name: `rowed-${mode}.echo` }, id));
      await sender.post(batch, { headers, token }).then(response => response.text());
      await post(modern('prompts/get', { name: `rowed-${mode}.nothing` }));
      await post(modern('resources/read', { uri: `rowed-${mode}+file:///a?token=${CANARY}` }));
      await post(modern('tools/list'));
      const rows = (await rowsOf(sender, person)).slice(before);
      expect(rows.map(({ action, subject, outcome }) => [action, subject, outcome])).toEqual([
        ['tool.call', `rowed-${mode}.echo`, 'done'],
        ['tool.call', `rowed-${mode}.echo`, 'done'],
        ['tool.call', `rowed-${mode}.echo`, 'done'],
        ['prompt.get', `rowed-${mode}.nothing`, 'denied'],
        ['resource.read', `rowed-${mode}+file:///a?token=[redacted]`, 'done'],
      ]);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(5);
    });

    it('[SEC-6] [SEC-2] keeps no secret of its arguments, and a digest from which nobody can guess them', async () => {
      const tool = {
        name: 'echo',
        inputSchema: { type: 'object', properties: { note: { type: 'string', writeOnly: true } } },
      };
      const server = new FakeServer({ era: 'modern', tools: [tool] });
      serve({ [`secretive-${mode}`]: server });
      await registerConnected(sender, `secretive-${mode}`, {
        connection_config: {
          url: `https://secretive-${mode}.example.com/mcp`,
          headers: { 'X-Key': `${CANARY}-header` },
        },
      });
      const given = { note: CANARY, Api_Key: CANARY, text: `Bearer ${CANARY}`, city: 'Graz' };
      const asked = call(`secretive-${mode}`, 'modern', { arguments: given });
      const row = await rowOf(() => post(asked));
      expect(JSON.stringify(row)).not.toContain(CANARY);
      expect(row?.detail['arguments']).toEqual({
        note: '[redacted]',
        Api_Key: '[redacted]',
        text: 'Bearer [redacted]',
        city: 'Graz',
      });
      const again = await rowOf(() => post(asked));
      expect(row?.detail['arguments_digest']).toMatch(/^k1\.[\w-]{43}$/);
      expect(again?.detail['arguments_digest']).toBe(row?.detail['arguments_digest']);
      const { results } = await env.DB.prepare('SELECT * FROM audit_events').all();
      expect(JSON.stringify(results)).not.toContain(CANARY);
      const { calls: everything } = await readCalls(env.DB, {}, 'newest', 10_000);
      expect(JSON.stringify(everything)).not.toContain(CANARY);
    });
  });
});

it('[SEC-6] leaves no row, and no object, if recording is switched off', async () => {
  const { name, server } = await connect('modern');
  server.call = received => resultOf(received, responseTo(received).result);
  const silent = createPortico({ PORTICO_AUDIT_CALLS: 'off' });
  const somebody = await createPerson(portico);
  const { message, headers } = call(name, 'modern');
  expect((await silent.post(message, { headers, token: somebody.token })).status).toBe(200);
  await silent.settle();
  expect(await rowsOf(portico, somebody)).toEqual([]);
  expect(await heldCalls(somebody)).toEqual([]);
});
