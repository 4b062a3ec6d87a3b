/** An administrator's change of a server is announced at once to open streams of both eras, and lists are new. */
import { afterEach, describe, expect, it } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  ADMIN,
  createPortico,
  initialize,
  inSession,
  legacy,
  registerConnected,
  SERVERS,
  whenServer,
  type RpcAnswer,
  whenQuiet,
} from '../support/portico.ts';
import { openGet, openListen, type OpenStream } from '../support/event-streams.ts';

const portico = createPortico();
/** Another isolate: changes need not reach the one that holds the streams. */
const elsewhere = createPortico();
const open: OpenStream[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
  await portico.settle();
  await elsewhere.settle();
});

const TOOLS = 'notifications/tools/list_changed';

async function createWatched(name: string) {
  serve({ [name]: new FakeServer(), [`${name}-other`]: new FakeServer() });
  const { id } = await registerConnected(portico, name);
  // The notifications of its registration are over before a stream opens.
  await whenQuiet(id);
  const session = await initialize(portico);
  const get = await openGet(portico, session, { token: ADMIN });
  const listen = await openListen(portico, { toolsListChanged: true });
  open.push(get, listen);
  const known = { get: get.methods().length, listen: listen.methods().length };
  const list = async () => {
    const answer = await portico.post(legacy('tools/list'), { headers: inSession(session) });
    return (await answer.json<RpcAnswer>()).result?.tools?.map(tool => tool.name) ?? [];
  };
  /** Makes a change, and returns what either stream got. */
  const toldOf = async (act: () => Promise<Response>) => {
    const response = await act();
    expect(response.ok).toBe(true);
    await Promise.all([get.until(known.get + 1), listen.until(known.listen + 1)]);
    const told = [get.methods().slice(known.get), listen.methods().slice(known.listen)];
    known.get = get.methods().length;
    known.listen = listen.methods().length;
    return told;
  };
  return { id, path: `${SERVERS}/${id}`, list, toldOf, get, known };
}

describe('open streams are notified of', () => {
  it('[REG-2] [MCP-4] [AG-US7-AC6] a rename, once, and list the new names', async () => {
    const { path, list, toldOf, get, known } = await createWatched('old-name');
    expect(await toldOf(() => elsewhere.api('PATCH', path, { name: 'new-name' }))).toEqual([
      [TOOLS],
      [TOOLS],
    ]);
    const names = await list();
    expect(names).toContain('new-name.echo');
    expect(names).not.toContain('old-name.echo');
    await elsewhere.api('PATCH', path, { description: 'nothing clients see' });
    await new Promise(resolve => setTimeout(resolve, 800));
    expect(get.methods()).toHaveLength(known.get);
  });

  it('[REG-3] [AG-US6-AC4] [AG-US6-AC5] a disconnect and a connect', async () => {
    const { id, path, list, toldOf } = await createWatched('cycled');
    await toldOf(() => elsewhere.api('POST', `${path}/disconnect`));
    expect(await list()).not.toContain('cycled.echo');
    await toldOf(async () => {
      const response = await elsewhere.api('POST', `${path}/connect`);
      await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
      return response;
    });
    expect(await list()).toContain('cycled.echo');
  });

  it('[REG-2] [SEC-1] an edit of the credential, after which the lists exist', async () => {
    const { id, path, list, toldOf } = await createWatched('rekeyed');
    const connection_config = { headers: { 'x-key': 'another' } };
    await toldOf(() => elsewhere.api('PATCH', path, { connection_config }));
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    await new Promise(resolve => setTimeout(resolve, 1_000));
    expect(await list()).toContain('rekeyed.echo');
  });

  it('[REG-2] [AG-US6-AC6] a delete', async () => {
    const { path, list, toldOf } = await createWatched('removed');
    await toldOf(() => elsewhere.api('DELETE', path));
    expect(await list()).not.toContain('removed.echo');
  });
});
