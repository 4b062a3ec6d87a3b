/**
 * Sets up what a run measures: the upstream, the host with Portico and the relay, registered servers, sessions.
 *
 * Owns: 10 registrations of the one upstream (1,000 tools), half of them modern and half legacy, an ordinary token made through REST, and
 * one legacy session per connection on either side. Portico has its default settings, so its monitors check and discover during a run, as
 * they normally do. Refuses: to return a set-up in which a server is not CONNECTED with all its tools. `stop` ends everything; the data
 * folder is removed when the process ends, even by a signal.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { mcpHeaders } from './exchanges.ts';
import type { Era } from './exchanges.ts';
import { bundleWorker } from '../local/bundle.ts';
import { startHost } from '../local/host.ts';
import type { Host } from '../local/host.ts';
import { openLogFile } from '../local/log-file.ts';
import { readSourceFiles } from '../local/source-files.ts';

const UPSTREAM = fileURLToPath(new URL('./upstream.ts', import.meta.url));
const RELAY = fileURLToPath(new URL('./relay.ts', import.meta.url));
const TOOLS_PER_SERVER = 100;
const SERVERS_PER_ERA = 5;
const CONNECT_TIMEOUT_MS = 30_000;

export const TOOL_COUNT = TOOLS_PER_SERVER * SERVERS_PER_ERA * 2;
export const MAX_CONNECTIONS = 64;

export interface Bench {
  /** Ports of each side of a comparison, and of the upstream itself. */
  ports: { portico: number; relay: number; upstream: number };
  /** An ordinary token of Portico. */
  token: string;
  /** Legacy sessions, one per connection. */
  sessions: { portico: string[]; relay: string[] };
  inspectorPort(): Promise<number>;
  /** Sends a request to the REST API as the administrator. @param path below `/api/v1` */
  request<T>(path: string, body?: unknown): Promise<T>;
  /** Waits until a server is connected with this many tools. */
  waitFor(name: string, toolCount: number): Promise<void>;
  /** How many requests of each era and method the upstream has received so far. */
  counts(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

interface ServerRecord {
  id: string;
  name: string;
  status: string;
  tool_count: number;
  last_error: unknown;
}

/** The server whose `echo` is called in an era; also the path on the upstream. */
export function serverName(era: Era, index = 1): string {
  return `${era}-${index}`;
}

/** The upstream's URL for one registration. */
export function upstreamUrl(port: number, era: Era, index = 1): string {
  return `http://127.0.0.1:${port}/${era}/${index}`;
}

/** Sends a request to the REST API. @throws Error with the response where it is not a success */
export async function requestJson<T>(url: string, token: string, body?: unknown): Promise<T> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** Waits until every server of these names is connected with this many tools. */
export async function waitForServers(
  api: string,
  token: string,
  names: ReadonlySet<string>,
  toolCount: number,
): Promise<void> {
  const deadline = Date.now() + CONNECT_TIMEOUT_MS;
  for (;;) {
    const { servers } = await requestJson<{ servers: ServerRecord[] }>(
      `${api}/aggregator/servers`,
      token,
    );
    const wanted = servers.filter(({ name }) => names.has(name));
    const waiting = wanted.filter(
      server => server.status !== 'CONNECTED' || server.tool_count !== toolCount,
    );
    if (waiting.length === 0 && wanted.length === names.size) return;
    if (Date.now() > deadline) throw new Error(`not connected: ${JSON.stringify(waiting)}`);
    await sleep(100);
  }
}

async function registerServers(api: string, token: string, upstreamPort: number): Promise<void> {
  const names = new Set<string>();
  for (const era of ['modern', 'legacy'] as const) {
    for (let index = 1; index <= SERVERS_PER_ERA; index += 1) {
      const name = serverName(era, index);
      names.add(name);
      await requestJson(`${api}/aggregator/servers`, token, {
        name,
        transport_type: 'HTTP',
        connection_config: { url: upstreamUrl(upstreamPort, era, index) },
      });
    }
  }
  await waitForServers(api, token, names, TOOLS_PER_SERVER);
}

async function openSession(url: string, token: string, capabilities: object): Promise<string> {
  const headers = mcpHeaders('legacy', token);
  const initialized = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities,
        clientInfo: { name: 'portico-bench', version: '1.0.0' },
      },
    }),
  });
  const text = await initialized.text();
  const session = initialized.headers.get('mcp-session-id');
  if (!initialized.ok || session === null) {
    throw new Error(`initialize answered ${initialized.status}: ${text}`);
  }
  const notified = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'mcp-session-id': session },
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  });
  await notified.arrayBuffer();
  if (notified.status !== 202) throw new Error(`initialized answered ${notified.status}`);
  return session;
}

/** Opens legacy sessions at an endpoint, one for each connection. @throws Error where one is refused */
export async function openSessions(
  url: string,
  token: string,
  capabilities = {},
): Promise<string[]> {
  const sessions: string[] = [];
  for (let index = 0; index < MAX_CONNECTIONS; index += 1) {
    sessions.push(await openSession(url, token, capabilities));
  }
  return sessions;
}

async function startUpstream(hasStreams = false): Promise<{ child: ChildProcess; port: number }> {
  const args = hasStreams ? ['streams'] : [];
  const child = fork(UPSTREAM, args, { stdio: 'inherit' });
  const [message]: { port: number }[] = await once(child, 'message');
  if (!message) throw new Error('the upstream did not start');
  return { child, port: message.port };
}

export interface BenchOptions {
  /** Opens the inspector, which slows things down: for profiles only. */
  inspect?: boolean;
  /** A Worker script to use instead of the one built from the sources. */
  script?: string;
  /** Settings of Portico that replace its defaults. */
  env?: Record<string, string>;
  /** Legacy servers offer a notification stream (GET) for server requests, and legacy clients declare capabilities for them. */
  canAsk?: boolean;
}

const dataDirs: string[] = [];
const removeDataDirs = (): void => {
  for (const dataDir of dataDirs) rmSync(dataDir, { recursive: true, force: true });
};

/** Starts everything a run needs. */
export async function startBench(options: BenchOptions): Promise<Bench> {
  const adminToken = `portico_${randomBytes(32).toString('base64url')}`;
  const keys = { active: 'k1', keys: { k1: randomBytes(32).toString('base64') } };
  const dataDir = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  if (dataDirs.push(dataDir) === 1) process.once('exit', removeDataDirs);
  const upstream = await startUpstream(options.canAsk);
  let host: Host | undefined;
  const stop = async (): Promise<void> => {
    await host?.close();
    if (upstream.child.connected) upstream.child.disconnect();
  };
  try {
    const started = await startHost({
      files: await readSourceFiles(options.script),
      dataDir,
      port: 0,
      // As in `npm start`: the request log is written.
      log: openLogFile(join(dataDir, 'log')),
      env: {
        PORTICO_KEYS: JSON.stringify(keys),
        PORTICO_ADMIN_TOKEN: adminToken,
        ...options.env,
      },
      workers: [{ name: 'relay', script: await bundleWorker(RELAY) }],
      inspect: options.inspect ?? false,
    });
    host = started;
    const relayUrl = started.urlOf('relay');
    const api = `${started.url}/api/v1`;
    await registerServers(api, adminToken, upstream.port);
    const { token } = await requestJson<{ token: string }>(`${api}/tokens`, adminToken, {
      name: 'bench',
    });
    return {
      ports: {
        portico: Number(new URL(started.url).port),
        relay: Number(new URL(relayUrl).port),
        upstream: upstream.port,
      },
      token,
      sessions: {
        portico: await openSessions(
          `${started.url}/mcp`,
          token,
          options.canAsk ? { elicitation: {} } : {},
        ),
        relay: await openSessions(relayUrl + relayPath(upstream.port, 'legacy'), token),
      },
      inspectorPort: () => started.inspectorPort(),
      request: (path, body) => requestJson(`${api}${path}`, adminToken, body),
      waitFor: (name, toolCount) => waitForServers(api, adminToken, new Set([name]), toolCount),
      counts: async () => {
        const response = await fetch(`http://127.0.0.1:${upstream.port}/counts`);
        const counts: Record<string, number> = JSON.parse(await response.text());
        return counts;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The relay's path for an upstream of an era. */
export function relayPath(upstreamPort: number, era: Era): string {
  return `/relay?to=${encodeURIComponent(upstreamUrl(upstreamPort, era))}`;
}
