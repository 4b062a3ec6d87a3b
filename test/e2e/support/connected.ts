/**
 * Programs of this machine behind a gateway, as users run them: an enrolled connector and `portico connect` as a process with an
 * `mcp.json`. Processes that a test leaves running are ended by their id.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Gateway, ServerRecord } from './gateway.ts';
import { COMPILE_CACHE, MAIN } from './portico-command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The longest start of a program; a large one on a busy machine is slow. */
const START_MS = 60_000;
const started = new Set<ChildProcess>();

const folders = new Set<string>();

afterAll(async () => {
  await Promise.all([...started].map(child => end(child, 'SIGTERM')));
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** An entry of an `mcp.json`. */
export interface Program {
  command: string;
  args?: string[];
  env?: Record<string, string>;
  portico?: object;
}

export interface Connected {
  connectorId: string;
  token: string;
  /** Records by the name of the program. */
  servers: Map<string, ServerRecord>;
  child: ChildProcess;
  output(): string;
  /** Restarts the command, with the same file and token. */
  restart(): void;
  /** Ends it and waits for its exit. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Returns a fixture as a program. */
export const fixtureProgram = (file: string, ...args: string[]): Program => ({
  command: process.execPath,
  args: [join(ROOT, 'test/fixtures', file), ...args],
});

/** Returns an installed package's server as a program. @param script its file below `node_modules` */
export const packageProgram = (script: string, ...args: string[]): Program => ({
  command: process.execPath,
  args: [join(ROOT, 'node_modules', script), ...args],
});

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  started.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

export interface ConnectedOptions {
  /** Settings of all its servers, as PATCH takes them. */
  settings?: object;
  args?: string[];
  /** Where the command reaches the gateway, if not directly. */
  url?: string;
}

/** Enrols a connector, starts it, and waits until its programs are connected. */
export async function connectPrograms(
  gateway: Gateway,
  name: string,
  programs: Readonly<Record<string, Program>>,
  more: ConnectedOptions = {},
): Promise<Connected> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-connected-'));
  folders.add(folder);
  const file = join(folder, 'mcp.json');
  await writeFile(file, JSON.stringify({ mcpServers: programs }));
  const enrolled = await gateway.api('POST', '/api/v1/connectors', { name });
  if (enrolled.status !== 201) throw new Error(enrolled.text);
  const { connector, token } = enrolled.json as { connector: { id: string }; token: string };
  const names = Object.keys(programs);
  const offers = { servers: names.map(program => ({ name: program })) };
  const told = await gateway.api('PUT', '/api/v1/connectors/self/servers', offers, token);
  const made = told.json['servers'] as { name: string; id: string | null; problem: string }[];
  const settings = more.settings ?? {};
  for (const { id, problem } of made) {
    if (id === null) throw new Error(problem);
    if (Object.keys(settings).length === 0) continue;
    const edited = await gateway.api('PATCH', `/api/v1/aggregator/servers/${id}`, settings);
    if (edited.status !== 200) throw new Error(edited.text);
  }
  let output = '';
  const start = (): ChildProcess => {
    const url = more.url ?? gateway.origin;
    const args = [MAIN, 'connect', '--config', file, '--url', url, ...(more.args ?? [])];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        PORTICO_CONNECTOR_TOKEN: token,
        ...COMPILE_CACHE,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    started.add(child);
    return child;
  };
  const connected: Connected = {
    connectorId: connector.id,
    token,
    servers: new Map(),
    child: start(),
    output: () => output,
    restart: () => void (connected.child = start()),
    end: signal => end(connected.child, signal),
  };
  try {
    for (const { name: program, id } of made) {
      connected.servers.set(program, await gateway.waitFor(id ?? '', 'CONNECTED', START_MS));
    }
  } catch (error) {
    throw new Error(`The connector says: ${output}`, { cause: error });
  }
  return connected;
}
