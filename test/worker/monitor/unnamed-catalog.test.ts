/** A catalog that its row never names, since the server was connected anew while the catalog was read. */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { look } from '../support/approvals.ts';
import { FakeServer, toolOf } from '../support/fake-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  createPortico,
  monitorOf,
  PATIENT,
  registerConnected,
  storedCatalogs,
  TRUSTED,
  whenQuiet,
} from '../support/portico.ts';

const portico = createPortico();
const toolsOf = (count: number) => Array.from({ length: count }, (_, i) => toolOf(`tool-${i}`));

it('[REG-5] is deleted like one that is replaced', async () => {
  const server = new FakeServer();
  let onRead: (() => Promise<unknown>) | undefined;
  const handle = async (request: Request) => {
    const text = await request.clone().text();
    const answer = await server.handle(request);
    if (text.includes('"tools/list"')) await onRead?.();
    return answer;
  };
  fakeUpstreams({ 'https://anew.example.com': handle });
  const { id } = await registerConnected(portico, 'anew', TRUSTED);
  await whenQuiet(id);
  const generation = env.DB.prepare('UPDATE servers SET generation = generation + 1 WHERE id = ?');
  let isRead = false;
  onRead = async () => {
    onRead = undefined;
    await generation.bind(id).run();
    isRead = true;
  };
  server.tools = toolsOf(2);
  await monitorOf(id).wake();
  await vi.waitFor(() => expect(isRead).toBe(true), PATIENT);
  await whenQuiet(id);
  server.tools = toolsOf(3);
  expect((await look(portico, id)).tool_count).toBe(3);
  await whenQuiet(id);
  expect((await storedCatalogs(id)).catalogs).toHaveLength(2);
});
