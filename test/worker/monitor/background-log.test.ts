/** Work of the objects' own that fails since the database does not answer: no request shows it, so it is logged. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { AuditLog } from '../../../src/objects/audit-log-object.ts';
import { CallChain } from '../../../src/objects/call-chain-object.ts';
import { ServerMonitor } from '../../../src/objects/server-monitor-object.ts';
import { Webhooks } from '../../../src/objects/webhooks-object.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  createPortico,
  monitorOf,
  registerConnected,
  TRUSTED,
  whenQuiet,
} from '../support/portico.ts';

const portico = createPortico();

/** Bindings without a database. @param lines gets what is logged */
function createEnv(lines: string[], log = 'errors'): Env {
  const DB = {
    prepare() {
      throw new Error('no database at https://user:secret@example.com');
    },
  };
  const LINES = {
    async fetch(_url: string, { body }: { body: string }) {
      lines.push(...body.trim().split('\n'));
      return new Response();
    },
  };
  return { ...env, PORTICO_LOG: log, DB, LINES } as unknown as Env;
}

it('[OPS-7] a check of a server is logged with its name', async () => {
  serve({ silent: new FakeServer() });
  const { id } = await registerConnected(portico, 'silent', TRUSTED);
  await whenQuiet(id);
  const lines: string[] = [];
  await runInDurableObject(monitorOf(id), (_, state) =>
    new ServerMonitor(state, createEnv(lines)).alarm(),
  );
  expect(lines.map(line => JSON.parse(line) as object)).toMatchObject([
    {
      level: 'error',
      source: 'background',
      method: 'check',
      server: 'silent',
      outcome: 'failed',
      code: 'internal',
    },
  ]);
  expect(lines.join()).not.toContain('secret');
  await runInDurableObject(monitorOf(id), (_, state) =>
    new ServerMonitor(state, createEnv(lines, 'off')).alarm(),
  );
  expect(lines).toHaveLength(1);
});

it.each([
  ['webhooks', env.WEBHOOKS, Webhooks],
  ['audit', env.CALL_CHAIN, CallChain],
  ['audit', env.AUDIT_LOG, AuditLog],
])('[OPS-7] %s are logged (%#)', async (method, namespace, Class) => {
  const lines: string[] = [];
  const object = (namespace as DurableObjectNamespace).getByName(`calls:${crypto.randomUUID()}`);
  await runInDurableObject(object, async (_, state) => {
    const own = new Class(state, createEnv(lines));
    if (own instanceof AuditLog) {
      state.storage.sql.exec("INSERT OR REPLACE INTO facts VALUES ('prune_at', '0')");
    }
    await own.alarm();
  });
  const line = { source: 'background', method, outcome: 'failed', code: 'internal' };
  expect(lines.map(each => JSON.parse(each) as object)).toMatchObject([line]);
});
