/**
 * The cost of a program behind a connector: `tools/call` of a modern client to a stdio server, directly over its stdin and stdout, and
 * through Portico and `portico connect`; beside them a call through Portico to a server over HTTP, in alternating slices of one run.
 *
 * Owns: an enrolled connector with the program, as a process of its own, and a second run of the program for the direct calls.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createCallExchange } from './exchanges.ts';
import { runLoad } from './load.ts';
import type { Sample } from './load.ts';
import type { Options } from './options.ts';
import { MAX_CONNECTIONS, serverName, startBench } from './setup.ts';
import type { Bench } from './setup.ts';
import { startDirectProgram } from './stdio-load.ts';
import { toRow, toSummary, toTable } from './table.ts';
import type { Summary } from './table.ts';

const PROGRAM = fileURLToPath(new URL('./stdio-echo.ts', import.meta.url));
const COMMAND = fileURLToPath(new URL('../cli/src/main.ts', import.meta.url));
const NAME = 'program';
const CLIENTS = [1, MAX_CONNECTIONS] as const;
const SIDES = ['direct', 'http', 'stdio'] as const;
type Side = (typeof SIDES)[number];

/** Starts `portico connect` with the program, and waits until it can be called. @returns a function that ends it */
async function connectProgram(bench: Bench): Promise<() => Promise<void>> {
  const { token } = await bench.request<{ token: string }>('/connectors', { name: 'bench' });
  const folder = await mkdtemp(join(tmpdir(), 'portico-bench-connect-'));
  const file = join(folder, 'mcp.json');
  const program = { command: process.execPath, args: [PROGRAM] };
  await writeFile(file, JSON.stringify({ mcpServers: { [NAME]: program } }));
  const url = `http://127.0.0.1:${bench.ports.portico}`;
  const args = [COMMAND, 'connect', '--quiet', '--config', file, '--url', url];
  const env = { PATH: process.env['PATH'], HOME: folder, PORTICO_CONNECTOR_TOKEN: token };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const end = () => void child.kill();
  process.once('exit', end);
  const stop = async () => {
    const isGone = child.exitCode !== null || child.signalCode !== null;
    const gone = isGone ? undefined : new Promise(resolve => child.once('exit', resolve));
    end();
    await gone;
    process.off('exit', end);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await bench.waitFor(NAME, 1);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

/** Runs all rounds; returns a table for each comparison. */
export async function measureStdio(options: Options, say: (line: string) => void): Promise<string> {
  say('starting the upstream, Portico, a connector and the program');
  const bench = await startBench({});
  const direct = startDirectProgram(PROGRAM);
  let disconnect: (() => Promise<void>) | undefined;
  try {
    disconnect = await connectProgram(bench);
    const route = { path: '/mcp', era: 'modern' as const, token: bench.token, sessions: [] };
    const exchanges = {
      http: createCallExchange(route, `${serverName('modern')}.echo`),
      stdio: createCallExchange(route, `${NAME}.echo`),
    };
    const durationMs = options.secondsPerSlice * 1_000;
    const measure = (side: Side, clients: number): Promise<Sample> => {
      if (side === 'direct') return direct.run({ clients, durationMs });
      const { portico: port } = bench.ports;
      return runLoad({ port, connections: clients, durationMs, exchange: exchanges[side] });
    };
    const measured = new Map<string, Summary[]>();
    for (let round = 0; round <= options.rounds; round += 1) {
      say(round === 0 ? 'warm-up round' : `round ${round} of ${options.rounds}`);
      for (const clients of CLIENTS) {
        for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
          const summary = toSummary(await measure(side, clients));
          const key = `${side} ${clients}`;
          if (round > 0) measured.set(key, [...(measured.get(key) ?? []), summary]);
        }
      }
    }
    const compare = (relay: Side, portico: Side, headings: [string, string]): string => {
      const rows = CLIENTS.map(clients => {
        const others = measured.get(`${portico} ${clients}`) ?? [];
        const pairs = (measured.get(`${relay} ${clients}`) ?? []).flatMap((one, round) => {
          const other = others[round];
          return other ? [{ relay: one, portico: other }] : [];
        });
        return toRow('tools/call, modern', clients, pairs);
      });
      return toTable(rows, headings);
    };
    return [
      compare('direct', 'stdio', ['direct', 'Portico']),
      'The same calls beside those of a server over HTTP, both through Portico:',
      compare('http', 'stdio', ['HTTP', 'stdio']),
      `Medians of ${options.rounds} interleaved rounds of ${options.secondsPerSlice} s on ${cpus().length} cores that all share.`,
    ].join('\n\n');
  } finally {
    direct.stop();
    await disconnect?.();
    await bench.stop();
  }
}
