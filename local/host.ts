/**
 * The local host: Portico's Worker in workerd, on one loopback port, with D1, KV and Durable Objects in a data folder.
 *
 * Owns: Miniflare and through it workerd, the bindings of `wrangler.toml`, the migrations (applied before anything listens), the log.
 * Requests reach the Worker on its own socket and its fetches leave through a network binding, so that none of Miniflare's own Workers is
 * on the path of a call (docs/decisions/0004-local-host.md).
 * Refuses: any address but 127.0.0.1. Nothing is sent anywhere: no telemetry, no update check, and an inspector only on request.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Response, type V4WorkerOptions } from 'miniflare';
import type { Network } from '../src/http/host-settings.ts';
import { trustedCertificates } from './certificates.ts';
import type { GatewayFiles } from './gateway-files.ts';
import type { LogFile } from './log-file.ts';
import { databaseWorker } from './database.ts';
import { createDraining } from './draining.ts';
import { applyMigrations } from './migrations.ts';
import type { Database, Migration } from './migrations.ts';
import { baseOptions, isAddressInUse, startMiniflare } from './miniflare.ts';
import { LOOPBACK, portTaken } from './ports.ts';
import { createTraceFolder } from './trace-folder.ts';
import type { WorkerConfig } from './worker-config.ts';

const NETWORK_BINDING = 'LOCAL_NETWORK';
/** Prepended to every Worker: its fetch goes straight to the network instead of through Miniflare's interceptor. */
const PREAMBLE = `import { env as localEnv } from 'cloudflare:workers';
globalThis.fetch = (input, init) => localEnv.${NETWORK_BINDING}.fetch(input, init);
`;
const TLS = { trustBrowserCas: true, trustedCertificates: trustedCertificates() };
/**
 * Networks that fetches may reach, whatever a name resolves to. The metadata addresses of clouds, which give out a machine's credentials,
 * never count as private.
 */
const NETWORKS: Readonly<Record<Network, { allow: string[]; deny?: string[] }>> = {
  public: { allow: ['public'] },
  loopback: { allow: ['public', 'local'] },
  private: { allow: ['public', 'private'], deny: ['169.254.0.0/16', 'fe80::/10'] },
};

/** A Worker without storage that runs beside Portico, in the same workerd. */
export interface ExtraWorker {
  name: string;
  /** One ES module, see `bundleWorker`. */
  script: string;
  /** Absent or 0: any free port. */
  port?: number;
  env?: Record<string, string>;
}

export interface HostOptions {
  /** Folder of the storage, created if missing. */
  dataDir: string;
  /** 0: any free port. */
  port: number;
  files: GatewayFiles;
  /** Text bindings of Portico's Worker: PORTICO_KEYS, PORTICO_ADMIN_TOKEN and settings. PORTICO_MODE defaults to local. */
  env: Record<string, string>;
  /** Networks that fetches may reach; `private` if absent. */
  network?: Network;
  workers?: readonly ExtraWorker[];
  /** Folder of the traces; without it none are written. */
  traceDir?: string | undefined;
  /** Receives the output of workerd and the Worker; without it the output is dropped. */
  log?: LogFile;
  /** Opens the inspector, which slows the Worker: for profiles only. */
  inspect?: boolean;
  /** Opens access to the database beside the gateway: for tests and benches only. */
  opensDatabase?: boolean;
}

export interface Host {
  /** Origin without a trailing slash. */
  readonly url: string;
  /** The database, for changes beside the gateway; throws without `opensDatabase`. */
  database(): Database;
  /** Names of the migrations that this start applied. */
  readonly applied: readonly string[];
  /** Origin of an extra Worker. */
  urlOf(worker: string): string;
  /** Port of the inspector; throws without `inspect`. */
  inspectorPort(): Promise<number>;
  /**
   * Refuses new work from now on and lets running requests finish.
   * @param ms how long to wait for them
   * @returns how many requests still run after that
   */
  drain(ms: number): Promise<number>;
  /** Ends workerd. The data stays. */
  close(): Promise<void>;
}

/**
 * Starts the gateway; it serves when this resolves.
 * @throws StartError if the port is taken or the data is too new for the code
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const { config, migrations, script, assets } = options.files;
  const storage = join(options.dataDir, 'storage');
  await mkdir(storage, { recursive: true, mode: 0o700 });
  const applied = await migrateOnce(storage, config, migrations, options.log);

  const drainKey = randomBytes(32).toString('base64url');
  const extra = options.workers ?? [];
  const database = options.opensDatabase ? databaseWorker(config) : undefined;
  const instance = await startMiniflare({
    ...baseOptions(storage, options.log),
    ...(options.inspect ? { inspectorPort: 0 } : {}),
    workers: [
      {
        ...workerOptions(
          'portico',
          script,
          config,
          options.port,
          { PORTICO_MODE: 'local', ...options.env, LOCAL_DRAIN_KEY: drainKey },
          {
            [config.assets]: { disk: { path: assets, writable: false } },
            ...toTraceService(options.traceDir),
            ...toLineService(options.log),
            [NETWORK_BINDING]: toNetwork(options.network),
          },
        ),
        d1Databases: config.databases,
        kvNamespaces: toNamespaceIds(config.namespaces),
        durableObjects: config.objects,
      },
      ...extra.map(worker =>
        workerOptions(worker.name, worker.script, config, worker.port ?? 0, worker.env ?? {}),
      ),
      ...(database ? [database.worker] : []),
    ],
  }).catch(error => {
    throw isAddressInUse(error) ? portTaken(options.port) : error;
  });
  const origins = new Map<string, string>();
  for (const name of ['portico', ...extra.map(worker => worker.name)]) {
    origins.set(name, (await instance.unsafeGetDirectURL(name)).origin);
  }
  const urlOf = (name: string): string => {
    const origin = origins.get(name);
    if (origin === undefined) throw new Error(`No Worker named ${name}`);
    return origin;
  };
  const opened = await database?.open(instance);
  return {
    url: urlOf('portico'),
    database() {
      if (!opened) throw new Error('The database was not asked for (opensDatabase)');
      return opened;
    },
    applied,
    urlOf,
    inspectorPort: async () => Number((await instance.getInspectorURL()).port),
    drain: createDraining(urlOf('portico'), drainKey),
    close: () => instance.dispose(),
  };
}

/**
 * Migrates the database before anything listens, in an instance with nothing but the database. Skipped if the note beside the database says
 * that exactly these migrations were applied.
 */
export async function migrateOnce(
  storage: string,
  config: WorkerConfig,
  migrations: readonly Migration[],
  log?: LogFile,
): Promise<string[]> {
  const note = join(storage, 'd1', 'migrations.sha256');
  const digest = createHash('sha256').update(JSON.stringify(migrations)).digest('hex');
  if ((await readFile(note, 'utf8').catch(() => '')) === digest) return [];
  const { worker, open } = databaseWorker(config);
  const instance = await startMiniflare({ ...baseOptions(storage, log), workers: [worker] });
  try {
    const applied = await applyMigrations(await open(instance), migrations);
    await writeFile(note, digest);
    return applied;
  } finally {
    await instance.dispose();
  }
}

const toNetwork = (network: Network = 'private') => ({
  network: { ...NETWORKS[network], tlsOptions: TLS },
});

/** A service of this process instead of workerd's disk service, since it sets the mode of files and limits the folder's size. */
function toTraceService(traceDir: string | undefined): V4WorkerOptions['serviceBindings'] {
  if (traceDir === undefined) return {};
  const folder = createTraceFolder(traceDir);
  return { TRACES: async request => new Response(null, await folder(request)) };
}

/** Receives the log lines of requests, many per request to the service. */
function toLineService(log: LogFile | undefined): V4WorkerOptions['serviceBindings'] {
  if (log === undefined) return {};
  return {
    async LINES(request) {
      for (const line of (await request.text()).split('\n')) if (line !== '') log.request(line);
      return new Response(null, { status: 204 });
    },
  };
}

function workerOptions(
  name: string,
  script: string,
  config: WorkerConfig,
  port: number,
  bindings: Record<string, string>,
  services: V4WorkerOptions['serviceBindings'] = {},
): V4WorkerOptions {
  return {
    name,
    modules: true,
    script: PREAMBLE + script,
    compatibilityDate: config.compatibilityDate,
    compatibilityFlags: config.compatibilityFlags,
    cacheAPI: false,
    bindings,
    serviceBindings: { [NETWORK_BINDING]: toNetwork(), ...services },
    unsafeDirectSockets: [{ host: LOOPBACK, port }],
    unsafeRegisterWorker: false,
  };
}

/** KV is stored under the name of its binding, whatever id a deployer writes into wrangler.toml. */
function toNamespaceIds(bindings: readonly string[]): Record<string, string> {
  return Object.fromEntries(bindings.map(binding => [binding, binding.toLowerCase()]));
}
