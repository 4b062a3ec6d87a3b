/** Lists of a server that is connected again but cannot be reached: its last catalog is offered, and clients are notified of that. */
import { afterEach, expect, it } from 'vitest';
import { openGet } from '../support/event-streams.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  ADMIN,
  createPortico,
  initialize,
  inSession,
  legacy,
  registerConnected,
  SERVERS,
  TRUSTED,
  whenQuiet,
  whenServer,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();
afterEach(() => portico.settle());
const TOOLS_CHANGED = 'notifications/tools/list_changed';

it('[MCP-4] [REG-3] are announced, and again once the server is deleted', async () => {
  const server = new FakeServer();
  serve({ away: server });
  const { id } = await registerConnected(portico, 'away', TRUSTED);
  await whenQuiet(id);
  const session = await initialize(portico);
  const listed = async () => {
    const answer = await portico.post(legacy('tools/list'), { headers: inSession(session) });
    return ((await answer.json<RpcAnswer>()).result?.tools ?? []).map(({ name }) => name);
  };
  const get = await openGet(portico, session, { token: ADMIN });
  await portico.api('POST', `${SERVERS}/${id}/disconnect`);
  await get.until(1);
  expect(await listed()).toEqual([]);
  server.outage = () => new Response('no', { status: 503 });
  await portico.api('POST', `${SERVERS}/${id}/connect`);
  await whenServer(portico, id, ({ status }) => status === 'ERROR');
  await get.until(2);
  expect(await listed()).toEqual(['away.echo']);
  await portico.api('DELETE', `${SERVERS}/${id}`);
  await get.until(3);
  expect(get.methods()).toEqual([TOOLS_CHANGED, TOOLS_CHANGED, TOOLS_CHANGED]);
  await get.close();
});
