/** Lifecycle over REST: edit, rename, connect, disconnect; what a request sees right after, and the results of races. */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  createPortico,
  modern,
  register,
  registerConnected,
  SERVERS,
  whenServer,
  type RpcAnswer,
  type ServerView,
} from '../support/portico.ts';

const portico = createPortico();
afterEach(() => portico.settle());

const toolsOf = async () => {
  const { message, headers } = modern('tools/list');
  const response = await portico.post(message, { headers });
  const { result } = await response.json<RpcAnswer>();
  const tools = (result?.['tools'] ?? []) as { name: string }[];
  return tools.map(({ name }) => name);
};
const call = (name: string) => portico.api('POST', '/api/v1/tools/call', { name });
const read = async (id: string) =>
  (await portico.api('GET', `${SERVERS}/${id}`)).json<ServerView>();

describe('disconnect and connect', () => {
  it('[REG-3] [AG-US6-AC1] [AG-US6-AC2] [AG-US6-AC4] [AG-US6-AC5] remove the tools and restore them', async () => {
    serve({ cycle: new FakeServer() });
    const { id } = await registerConnected(portico, 'cycle');
    expect(await toolsOf()).toContain('cycle.echo');
    const down = await portico.api('POST', `${SERVERS}/${id}/disconnect`);
    expect([down.status, await down.json()]).toEqual([
      200,
      { status: 'DISCONNECTED', pending_requests: 0 },
    ]);
    expect(await toolsOf()).not.toContain('cycle.echo');
    expect(await read(id)).toMatchObject({ status: 'DISCONNECTED', tool_count: 0 });
    const refused = await call('cycle.echo');
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { code: 'server_disconnected', server: { id, name: 'cycle', status: 'DISCONNECTED' } },
    ]);
    const up = await portico.api('POST', `${SERVERS}/${id}/connect`);
    expect([up.status, await up.json()]).toEqual([
      200,
      { status: 'CONNECTING', message: 'Connection initiated' },
    ]);
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    expect(await toolsOf()).toContain('cycle.echo');
    expect((await call('cycle.echo')).status).toBe(200);
  });

  it('[REG-3] at once in any order end in a legal state, which the monitor follows', async () => {
    serve({ race: new FakeServer() });
    const { id } = await registerConnected(portico, 'race');
    for (let round = 0; round < 5; round += 1) {
      const adminAudit = ['connect', 'disconnect', 'connect', 'disconnect', 'connect'];
      await Promise.all(adminAudit.map(act => portico.api('POST', `${SERVERS}/${id}/${act}`)));
      const { status } = await read(id);
      const isUp = status !== 'DISCONNECTED';
      if (isUp) await whenServer(portico, id, server => server.status === 'CONNECTED');
      expect((await toolsOf()).includes('race.echo')).toBe(isUp);
    }
  });

  it('[REG-3] the table itself refuses an illegal transition', async () => {
    const { id } = await register(portico, 'illegal', { auto_connect: false });
    const step = env.DB.prepare("UPDATE servers SET status = 'CONNECTED' WHERE id = ?").bind(id);
    await expect(step.run()).rejects.toThrow('can only be connected');
  });
});

describe('edit', () => {
  it('[REG-2] [AG-US7-AC6] a rename renames the tools at once', async () => {
    serve({ before: new FakeServer() });
    const { id } = await registerConnected(portico, 'before');
    const renamed = await portico.api('PATCH', `${SERVERS}/${id}`, { name: 'after' });
    expect([renamed.status, await renamed.json()]).toMatchObject([200, { name: 'after', id }]);
    const tools = await toolsOf();
    expect(tools).toContain('after.echo');
    expect(tools).not.toContain('before.echo');
    expect((await call('after.echo')).status).toBe(200);
    expect((await call('before.echo')).status).toBe(404);
  });

  it('[REG-2] refuses a name that is taken, in any case', async () => {
    const first = await register(portico, 'first', { auto_connect: false });
    await register(portico, 'second', { auto_connect: false });
    const path = `${SERVERS}/${first.id}`;
    expect((await portico.api('PATCH', path, { name: 'SECOND' })).status).toBe(409);
    expect((await portico.api('PATCH', path, { name: 'FIRST' })).status).toBe(200);
  });

  it('[REG-2] with If-Match is applied only at the revision that was read', async () => {
    const { id } = await register(portico, 'tagged', { auto_connect: false });
    const path = `${SERVERS}/${id}`;
    const etag = (await portico.api('GET', path)).headers.get('etag') ?? '';
    const edit = (description: string, ifMatch: string) =>
      portico.api('PATCH', path, { description }, { headers: { 'if-match': ifMatch } });
    const first = await edit('one', etag);
    expect(first.status).toBe(200);
    expect(first.headers.get('etag')).not.toBe(etag);
    const late = await edit('two', etag);
    expect([late.status, await late.json()]).toMatchObject([412, { code: 'precondition_failed' }]);
    expect((await edit('three', 'nonsense')).status).toBe(412);
    expect((await edit('four', '*')).status).toBe(200);
    const answers = await Promise.all(
      ['a', 'b', 'c'].map(text => portico.api('PATCH', path, { description: text })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('[REG-2] [SEC-1] of the address connects again, and a new origin drops the credentials', async () => {
    const there = new FakeServer();
    serve({ here: new FakeServer(), there });
    const config = { url: 'https://here.example.com/mcp', headers: { 'x-key': 'canary-1' } };
    const { id } = await registerConnected(portico, 'here', { connection_config: config });
    const path = `${SERVERS}/${id}`;
    const move = { connection_config: { url: 'https://there.example.com/mcp' } };
    const moved = await portico.api('PATCH', path, move);
    expect(await moved.json()).toMatchObject({ status: 'CONNECTING' });
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    expect((await call('here.echo')).status).toBe(200);
    const last = there.of('tools/call').at(-1);
    expect(last && [...last.headers.keys()]).not.toContain('x-key');
  });
});
