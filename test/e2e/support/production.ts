/**
 * The Worker as deployed, in production mode, with its own storage and objects, and a function as its network: the test sees every request
 * that leaves it, and none leaves the machine.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Request as OutboundRequest, Response as OutboundResponse } from 'miniflare';
import { keptBundle } from '../../../local/kept-bundle.ts';
import { applyMigrations, readMigrations, type Database } from '../../../local/migrations.ts';
import { baseOptions, startMiniflare } from '../../../local/miniflare.ts';
import { parseWorkerConfig } from '../../../local/worker-config.ts';
import { makeToken } from './gateway.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface Production {
  /** Sends a REST request with a JSON body, as an administrator. */
  api(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; json: Record<string, unknown> }>;
  /** Runs SQL on the database of the deployment. */
  sql(statement: string, ...params: (string | number)[]): Promise<void>;
  close(): Promise<void>;
}

/** @param answer stands for everything outside the Worker */
export async function startProduction(
  answer: (request: OutboundRequest) => OutboundResponse | Promise<OutboundResponse>,
  settings: Record<string, string> = {},
): Promise<Production> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-production-'));
  const config = parseWorkerConfig(await readFile(join(root, 'wrangler.toml'), 'utf8'));
  const adminToken = makeToken();
  const keys = { active: 'k1', keys: { k1: Buffer.alloc(32, 7).toString('base64') } };
  const instance = await startMiniflare({
    ...baseOptions(folder, undefined),
    name: 'portico',
    // Past Miniflare's own Workers, which take longer than most requests.
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    modules: true,
    script: keptBundle(join(root, 'src/index.ts')),
    compatibilityDate: config.compatibilityDate,
    compatibilityFlags: config.compatibilityFlags,
    d1Databases: config.databases,
    kvNamespaces: config.namespaces,
    durableObjects: config.objects,
    bindings: {
      PORTICO_MODE: 'production',
      PORTICO_KEYS: JSON.stringify(keys),
      PORTICO_ADMIN_TOKEN: adminToken,
      ...settings,
    },
    outboundService: answer,
  });
  const { origin } = await instance.unsafeGetDirectURL('portico');
  const database = (await instance.getD1Database('DB')) as unknown as Database;
  await applyMigrations(database, await readMigrations(join(root, 'migrations')));
  return {
    async api(method, path, body) {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, json: text === '' ? {} : JSON.parse(text) };
    },
    async sql(statement, ...params) {
      await database
        .prepare(statement)
        .bind(...params)
        .all();
    },
    async close() {
      await instance.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
