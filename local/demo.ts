/**
 * The demo servers: real MCP servers from npm on free loopback ports, one for each transport.
 *
 * Owns: their processes (each a process group of its own, killed at the end), their output (to the log), and `demo.json`, which stores
 * their ports and the ids of their records, so that the next start reuses both. Refuses to change a server of the same name that it did not
 * register. The processes do not inherit the user's environment, because one of their tools prints it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Api, NewServer, ServerRecord } from './api.ts';
import type { LogFile } from './log-file.ts';
import { LOOPBACK, findFreePort, isFreePort } from './ports.ts';
import { StartError } from './start-error.ts';

const PRELOAD = new URL('./demo-preload.mjs', import.meta.url).href;
const PROGRAM = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const START_TIMEOUT_MS = 15_000;

interface DemoKind {
  name: string;
  title: string;
  /** Argument of the program. */
  mode: string;
  transportType: NewServer['transport_type'];
  path: string;
}

const KINDS: readonly DemoKind[] = [
  {
    name: 'everything',
    title: 'Streamable HTTP',
    mode: 'streamableHttp',
    transportType: 'HTTP',
    path: '/mcp',
  },
  {
    name: 'everything-sse',
    title: 'HTTP+SSE',
    mode: 'sse',
    transportType: 'SSE',
    path: '/sse',
  },
];

/** Content of `demo.json`, by server name. */
type DemoState = Record<string, { port: number; serverId?: string }>;

export interface DemoServer extends DemoKind {
  port: number;
  /** Whether the port differs from the last start. */
  moved: boolean;
}

export interface Demo {
  servers: readonly DemoServer[];
  /** Creates the record of a demo server, or keeps it if it still fits. */
  register(server: DemoServer, api: Api): Promise<ServerRecord>;
  /** Kills the processes. */
  stop(): void;
}

/** Starts the demo servers; resolves when they listen. */
export async function startDemo(dataDir: string, log: LogFile): Promise<Demo> {
  const stateFile = join(dataDir, 'demo.json');
  const state = await readState(stateFile);
  const children: ChildProcess[] = [];
  const stop = (): void => children.splice(0).forEach(killGroup);
  process.once('exit', stop);
  try {
    const servers: DemoServer[] = [];
    for (const kind of KINDS) {
      const known = state[kind.name]?.port;
      const port = known !== undefined && (await isFreePort(known)) ? known : await findFreePort();
      servers.push({ ...kind, port, moved: port !== known });
      children.push(spawnDemo(kind, port, log));
    }
    await Promise.all(
      servers.map((server, index) => waitForPort(server, children[index] as ChildProcess, log)),
    );
    return { servers, stop, register: (server, api) => register(server, api, state, stateFile) };
  } catch (error) {
    stop();
    throw error;
  }
}

async function register(
  server: DemoServer,
  api: Api,
  state: DemoState,
  stateFile: string,
): Promise<ServerRecord> {
  const existing = (await api.listServers()).find(record => record.name === server.name);
  const ours = existing !== undefined && existing.id === state[server.name]?.serverId;
  if (existing !== undefined && !ours) {
    throw new StartError(`a server named ${server.name} is already registered; it is kept`);
  }
  if (existing !== undefined && !server.moved) return existing;
  if (existing !== undefined) await api.deleteServer(existing.id);
  const record = await api.createServer({
    name: server.name,
    description: `Demo server over ${server.title}`,
    transport_type: server.transportType,
    connection_config: { url: `http://${LOOPBACK}:${server.port}${server.path}` },
  });
  state[server.name] = { port: server.port, serverId: record.id };
  await writeFile(stateFile, `${JSON.stringify(state, null, 2)}\n`);
  return record;
}

/** Reads the state of the last start; empty if the file is missing or damaged. */
async function readState(file: string): Promise<DemoState> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as DemoState;
  } catch {
    return {};
  }
}

function spawnDemo(kind: DemoKind, port: number, log: LogFile): ChildProcess {
  const child = spawn(process.execPath, ['--import', PRELOAD, PROGRAM, kind.mode], {
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PORT: String(port) },
  });
  child.stdout?.on('data', (chunk: Buffer) => log.write(kind.name, chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => log.write(kind.name, chunk.toString()));
  child.on('error', error => log.write(kind.name, error.message));
  return child;
}

async function waitForPort(server: DemoServer, child: ChildProcess, log: LogFile): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    if (await canConnect(server.port)) return;
    await new Promise(resolve => setTimeout(resolve, 25));
  }
  throw new StartError(`The demo server ${server.name} did not start; see ${log.path}`);
}

function canConnect(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, LOOPBACK);
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
