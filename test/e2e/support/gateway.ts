/**
 * The gateway as users run it, in its own process group, a data folder, and the REST API: the process that `npm start` runs, or, with
 * arguments and for tests of the start, `local/start.mjs` itself. Owns start and end of the process (ended by id, the group only if it does
 * not end by itself) and the data folder that it created. Everything goes over loopback HTTP; nothing here depends on the gateway's code.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, inject } from 'vitest';
import { findFreePort, stopAllFixtures, until } from '../../fixtures/start-fixture.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Timeouts against endless waits, long enough for a busy machine. */
const READY_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 60_000;
const SOON_MS = 60_000;
const started = new Set<ChildProcess>();

// Runs after the hooks of the importing file: ends, by id, what a failed set-up left behind.
afterAll(async () => {
  await Promise.all([...started].map(endGateway));
  await stopAllFixtures();
});

export interface GatewayOptions {
  /** Kept if given; otherwise a new folder, removed at the end. */
  data?: string;
  port?: number;
  env?: Record<string, string>;
  args?: string[];
  adminToken?: string;
}

export interface ApiAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed JSON, or an empty object if the body is no JSON. */
  json: Record<string, unknown>;
}

export interface ServerRecord {
  id: string;
  name: string;
  status: string;
  transport_type: string;
  tool_count: number;
  era: string | null;
  last_error: string | null;
}

export interface Gateway {
  origin: string;
  port: number;
  data: string;
  adminToken: string;
  output(): string;
  api(method: string, path: string, body?: unknown, token?: string): Promise<ApiAnswer>;
  /** Registers a server and waits until its tools are available. */
  register(name: string, url: string, more?: Record<string, unknown>): Promise<ServerRecord>;
  /** Waits until the server has the status. */
  waitFor(id: string, status: string, timeoutMs?: number): Promise<ServerRecord>;
  createToken(body: Record<string, unknown>): Promise<{ id: string; token: string }>;
  /** Ends the gateway and returns its exit code. */
  stop(): Promise<number | null>;
  /** Kills everything at once, like a power cut; the data stays. */
  kill(): Promise<void>;
}

/** A token of the right format that no deployment knows. */
export const makeToken = (): string => `portico_${randomBytes(32).toString('base64url')}`;

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

/** Ends the gateway under a start script, with everything that it started: they have their own process group. */
async function endInner({ pid }: ChildProcess): Promise<void> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  for (const inner of children.trim().split(' ').filter(Boolean)) {
    try {
      process.kill(-Number(inner), 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }
}

/**
 * Removes the tests' own variables, which a gateway must not see, and the machine's proxies and additional CAs: no test leaves the machine,
 * and with a hundred CAs a start takes half as long again.
 */
export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOurs = (name: string) =>
    /^(?:PORTICO_.*|NODE_EXTRA_CA_CERTS|(?:https?|all)_proxy)$/i.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name)));
}

interface Started {
  child: ChildProcess;
  /** Both streams. */
  output(): string;
}
type Variables = Record<string, string | undefined>;

/** Starts the script of `npm start`. An undefined variable is left out. */
export const spawnStart = (args: string[], env: Variables = {}): Started =>
  spawnScript([join(root, 'local/start.mjs'), ...args], env);

/** Starts the process that the script starts. */
const spawnProcess = (args: string[], env: Variables): Started =>
  spawnScript(['--disable-warning=ExperimentalWarning', inject('gatewayFile'), ...args], env);

function spawnScript(args: string[], env: Variables): Started {
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...withoutSettings(process.env), ...env },
  });
  started.add(child);
  let text = '';
  child.stdout.on('data', chunk => (text += String(chunk)));
  child.stderr.on('data', chunk => (text += String(chunk)));
  return { child, output: () => text };
}

/** Ends a started gateway like Ctrl-C; kills its process group if that takes too long. */
export async function endGateway(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGINT');
    const timer = setTimeout(() => endGroup(child), END_TIMEOUT_MS);
    await exit;
    clearTimeout(timer);
  }
  endGroup(child);
  started.delete(child);
  return child.exitCode;
}

async function request(
  origin: string,
  token: string,
  method: string,
  path: string,
  body: unknown,
): Promise<ApiAnswer> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /[+/]json/u.test(response.headers.get('content-type') ?? '');
  const json = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, text, json };
}

const SERVERS = '/api/v1/aggregator/servers';
/** Settings of a gateway that sends its servers nothing by itself while a test counts their requests. */
export const QUIET = {
  PORTICO_DISCOVERY_INTERVAL_MS: '3600000',
  PORTICO_HEALTH_INTERVAL_MS: '3600000',
};
/** For a server whose tools change, or have misleading names, in a test that is not about their approval. */
export const TRUSTED = { tool_approval: 'trust' };

/** Creates a new data folder with a migrated database (`setup.ts`). */
async function makeDataFolder(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'portico-e2e-'));
  await cp(inject('migratedStorage'), join(data, 'storage'), { recursive: true });
  return data;
}

/** Starts a gateway and waits until it serves. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const port = options.port ?? (await findFreePort());
  const data = options.data ?? (await makeDataFolder());
  const adminToken = options.adminToken ?? makeToken();
  const origin = `http://127.0.0.1:${port}`;
  const args = ['--port', String(port), '--data', data, '--no-demo', ...(options.args ?? [])];
  const isScript = options.args !== undefined;
  const env = { PORTICO_ADMIN_TOKEN: adminToken, ...options.env };
  const { child, output } = isScript ? spawnStart(args, env) : spawnProcess(args, env);
  const state = await until('the gateway serves', READY_TIMEOUT_MS, async () => {
    if (child.exitCode !== null) return 'ended';
    return (await fetch(`${origin}/health`)).ok ? 'ready' : undefined;
  }).catch(String);
  if (state !== 'ready') {
    await endGateway(child);
    if (options.data === undefined) await rm(data, { recursive: true, force: true });
    throw new Error(`The gateway does not serve: ${state}\n${output()}`);
  }

  const api: Gateway['api'] = (method, path, body, token = adminToken) =>
    request(origin, token, method, path, body);

  const waitFor: Gateway['waitFor'] = async (id, status, timeoutMs = SOON_MS) => {
    let last = '';
    return until(`server ${id} is ${status}`, timeoutMs, async () => {
      const answer = await api('GET', `${SERVERS}/${id}`);
      last = answer.text;
      return answer.json['status'] === status
        ? (answer.json as unknown as ServerRecord)
        : undefined;
    }).catch(error => {
      throw new Error(`${String(error)}; last seen ${last}`);
    });
  };

  return {
    origin,
    port,
    data,
    adminToken,
    output,
    api,
    waitFor,
    register: async (name, url, more = {}) => {
      const { transport_type = 'HTTP', headers, ...rest } = more;
      const connection_config = headers === undefined ? { url } : { url, headers };
      const body = { name, transport_type, connection_config, auto_connect: true, ...rest };
      const answer = await api('POST', SERVERS, body);
      if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
      const record = await waitFor(String(answer.json['id']), 'CONNECTED');
      await until(`the tools of ${name} are listed`, SOON_MS, async () => {
        const { json } = await api('GET', `/api/v1/tools?server=${record.id}`);
        const servers = json['servers'] as { name: string; tools: object[] }[];
        const listed = servers.find(server => server.name === name)?.tools.length;
        return listed === record.tool_count ? true : undefined;
      });
      return record;
    },
    createToken: async body => {
      const answer = await api('POST', '/api/v1/tokens', body);
      if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
      return answer.json as unknown as { id: string; token: string };
    },
    kill: async () => {
      const exit = once(child, 'exit');
      if (isScript) await endInner(child);
      else endGroup(child);
      // The script sees the exit, so nothing uses the data any more.
      await exit;
      await until('nothing listens any more', SOON_MS, () =>
        fetch(origin).then(
          () => undefined,
          () => true,
        ),
      );
      started.delete(child);
    },
    stop: async () => {
      const code = await endGateway(child);
      if (options.data === undefined) await rm(data, { recursive: true, force: true });
      return code;
    },
  };
}
