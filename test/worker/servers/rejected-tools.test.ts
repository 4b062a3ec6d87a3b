/** A tool that is rejected after it was approved: no client sees it any more, whatever its server does meanwhile. */
import { expect, it } from 'vitest';
import { call, decide, listApprovals, listTools, whenListed } from '../support/approvals.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  monitorOf,
  registerConnected,
  SERVERS,
  whenQuiet,
  whenServer,
} from '../support/portico.ts';

const portico = createPortico();

/** Rejects the approved tool of a server. */
async function reject(from: typeof portico, server: string, name: string) {
  const { approvals } = await listApprovals(portico, server, 'approved');
  const items = approvals
    .filter(approval => approval.name === name)
    .map(({ server_id, kind, approved_fingerprint: fingerprint }) => ({
      server_id,
      kind,
      name,
      fingerprint,
    }));
  return decide(from, 'reject', { items });
}

it.each([
  ['answers calls, but refuses every discovery', 401],
  ['fails', 500],
])('[SEC-7] of a server that %s', async (_, status) => {
  const name = `rejecting-${status}`;
  const server = new FakeServer({ tools: [toolOf('good'), toolOf('bad')] });
  serve({ [name]: server });
  const { id } = await registerConnected(portico, name);
  expect(await listTools(name)).toEqual(['good', 'bad']);
  for (const method of ['initialize', 'server/discover', 'tools/list', 'ping']) {
    server.answers.set(method, () => new Response('no', { status }));
  }
  await portico.api('POST', `${SERVERS}/${id}/connect`);
  await monitorOf(id).wake();
  await whenServer(portico, id, ({ last_error: error }) => error !== null);
  await whenQuiet(id);
  expect(await reject(portico, id, 'bad')).toMatchObject({ status: 200, decided: 1 });
  await whenListed(name, ['good']);
  expect(await call('modern', `${name}.bad`)).toMatchObject({ error: { code: -32602 } });
});

it('[SEC-7] is gone soon and answered as rejected, even if its monitor cannot be told at once', async () => {
  serve({ untold: new FakeServer({ tools: [toolOf('good'), toolOf('bad')] }) });
  const { id } = await registerConnected(portico, 'untold');
  const deaf = createPortico({
    SERVER_MONITOR: {
      getByName: (of: string) => ({
        expect: (serverId: string, inMs?: number) => monitorOf(of).expect(serverId, inMs),
        wake: () => Promise.reject(new Error('lost')),
      }),
    } as unknown as Env['SERVER_MONITOR'],
  });
  expect(await reject(deaf, id, 'bad')).toMatchObject({ status: 200, decided: 1 });
  await whenListed('untold', ['good']);
});
