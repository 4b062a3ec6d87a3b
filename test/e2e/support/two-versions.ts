/**
 * The Worker of the last release (`test/fixtures/last-release`) and that of this checkout, each on either schema, in workerd on a data
 * folder. Owns what it starts and the folders that it creates.
 */
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { GatewayFiles } from '../../../local/gateway-files.ts';
import { startHost, type Host } from '../../../local/host.ts';
import { readSourceFiles } from '../../../local/source-files.ts';
import { parseWorkerConfig } from '../../../local/worker-config.ts';
import { makeToken } from './gateway.ts';

const FOLDER = new URL('../../fixtures/last-release/', import.meta.url);
const SETTINGS = { PORTICO_AUDIT_GATHER_MS: '50' };

export type Version = 'last' | 'new';

export interface TwoVersions {
  adminToken: string;
  /** By the schema's version. */
  migrations: Record<Version, GatewayFiles['migrations']>;
  /** Creates a new data folder. @param from a folder to copy, which must not be in use */
  folder(from?: string): Promise<string>;
  /** Starts a Worker on a folder, after migrating its database to a schema if it is older. */
  start(folder: string, worker: Version, schema: Version): Promise<Host>;
  /** Ends what was started, and removes the folders. */
  stop(): Promise<void>;
}

export async function readTwoVersions(): Promise<TwoVersions> {
  const read = (name: string) => readFile(new URL(name, FOLDER));
  const { migrations: names } = JSON.parse(String(await read('release.json'))) as {
    migrations: string[];
  };
  const now = await readSourceFiles();
  const files: Record<Version, GatewayFiles> = {
    new: now,
    last: {
      ...now,
      config: parseWorkerConfig(String(await read('wrangler.toml'))),
      migrations: now.migrations.filter(({ name }) => names.includes(name)),
      script: String(brotliDecompressSync(await read('worker.js.br'))),
    },
  };
  const adminToken = makeToken();
  const keys = { active: 'k1', keys: { k1: Buffer.alloc(32, 5).toString('base64') } };
  const folders: string[] = [];
  const hosts: Host[] = [];
  return {
    adminToken,
    migrations: { last: files.last.migrations, new: files.new.migrations },
    async folder(from) {
      const made = await mkdtemp(join(tmpdir(), 'portico-versions-'));
      folders.push(made);
      if (from !== undefined) await cp(from, made, { recursive: true });
      return made;
    },
    async start(dataDir, worker, schema) {
      const { migrations } = files[schema];
      const host = await startHost({
        files: { ...files[worker], migrations },
        dataDir,
        port: 0,
        opensDatabase: true,
        env: { ...SETTINGS, PORTICO_KEYS: JSON.stringify(keys), PORTICO_ADMIN_TOKEN: adminToken },
      });
      hosts.push(host);
      return host;
    },
    async stop() {
      await Promise.all(hosts.map(host => host.close()));
      await Promise.all(folders.map(each => rm(each, { recursive: true, force: true })));
    },
  };
}
