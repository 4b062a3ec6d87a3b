/**
 * `npm run bench:servers`: one gateway in front of 300 and of 1,000 servers with ten tools each. Uses the metered Worker of `bench/edge`,
 * with stores at Cloudflare's distances; a first request starts on an isolate without any memory. Processor time is that of workerd,
 * including its own stores. Memory is that of the isolate, read by the inspector in a run of its own. Loopback only; ends by itself.
 *
 * Owns: the upstream, the hosts and the data folders.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startHost, type Host } from '../local/host.ts';
import { readSourceFiles } from '../local/source-files.ts';
import { findChildren } from '../local/watchdog.ts';
import { bundleMetered } from './edge/bundle.ts';
import { DISTANCES } from './edge/gateway.ts';
import { mcpHeaders, rpcBody } from './exchanges.ts';
import { openInspector, usedBytes } from './inspector.ts';
import { registerMany } from './register-many.ts';
import { requestJson } from './setup.ts';
import { median } from './statistics.ts';
import { readWords } from './words.ts';

const HELP = `npm run bench:servers [-- COUNT ...]

What lists and searches cost in front of COUNT servers with ten tools each (default 300 and 1,000), with
stores as far away as on Cloudflare. Prints a table after some minutes. Loopback only; ends by itself.

  npm run bench:servers -- 1000
`;
const UPSTREAM = fileURLToPath(new URL('./search-upstream.ts', import.meta.url));
const COUNTS = [300, 1_000];
const TOOLS = 10;
/** Most tools on a page of a list. */
const PAGE_TOOLS = 5_000;
const ROUNDS = 9;
/** Sequential searches, no two alike. */
const SERIES = 100;
/** Rounds with the local emulation of stores, without distances. */
const LOCAL_ROUNDS = 3;
const HOUR_MS = 3_600_000;
/** Wait until a request may no longer use the former snapshot of the registry, in milliseconds. */
const PAUSE_MS = 1_100;
const MIB = 1_048_576;
/** One tick of the processor times in `/proc`, in milliseconds. */
const TICK_MS = 10;
const QUERIES = ['which invoices were not paid', 'delete an old branch', 'copy a page elsewhere'];

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Processor time of workerd so far, in milliseconds. */
function processorMs(): number {
  const [pid] = findChildren('workerd');
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  return ((user ?? Number.NaN) + (system ?? Number.NaN)) * TICK_MS;
}

interface Setting {
  dataDir: string;
  token: string;
  count: number;
}

/** Time and store operations of one request. */
interface Took {
  ms: number;
  cpuMs: number;
  counts: Record<string, number>;
}

async function open({ dataDir, token }: Setting, keys: string, inspect = false): Promise<Host> {
  return startHost({
    files: await readSourceFiles(await bundleMetered()),
    dataDir,
    port: 0,
    inspect,
    opensDatabase: true,
    env: {
      PORTICO_KEYS: keys,
      PORTICO_ADMIN_TOKEN: token,
      PORTICO_DISCOVERY_INTERVAL_MS: String(HOUR_MS),
      PORTICO_HEALTH_INTERVAL_MS: String(HOUR_MS),
    },
  });
}

function clientOf({ url }: Host, { token, count }: Setting) {
  const ask = async (path: string): Promise<Record<string, number>> => {
    const text = await (await fetch(url + path)).text();
    return text === '' ? {} : (JSON.parse(text) as Record<string, number>);
  };
  return {
    ask,
    async timed(act: () => Promise<void>): Promise<Took> {
      await ask('/ledger?reset');
      const usedMs = processorMs();
      const startedAt = performance.now();
      await act();
      const ms = performance.now() - startedAt;
      return { ms, cpuMs: processorMs() - usedMs, counts: await ask('/ledger?reset') };
    },
    async list(): Promise<void> {
      const response = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { ...mcpHeaders('modern', token), 'Mcp-Method': 'tools/list' },
        body: rpcBody('modern', 1, 'tools/list', {}),
      });
      const text = await response.text();
      const { result } = JSON.parse(text) as { result?: { tools: unknown[] } };
      const wanted = Math.min(count * TOOLS, PAGE_TOOLS);
      if (result?.tools.length !== wanted) throw new Error(`wrong list: ${text.slice(0, 500)}`);
    },
    async search(query: string): Promise<void> {
      const { metadata } = await requestJson<{ metadata: { total_tools_searched: number } }>(
        `${url}/api/v1/search`,
        token,
        { query },
      );
      if (metadata.total_tools_searched !== count * TOOLS) throw new Error('tools were missed');
    },
    async rename(id: string, name: string): Promise<void> {
      const response = await fetch(`${url}/api/v1/aggregator/servers/${id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      if (!response.ok) throw new Error(`no rename: ${await response.text()}`);
    },
  };
}

/** Measures each kind of request, in each round. */
async function measureTimes(host: Host, setting: Setting): Promise<Map<string, Took[]>> {
  const { ask, timed, list, search, rename } = clientOf(host, setting);
  const took = new Map<string, Took[]>();
  const note = async (kind: string, act: () => Promise<void>) => {
    const before = took.get(kind) ?? [];
    took.set(kind, [...before, await timed(act)]);
  };
  const database = host.database();
  const [server] = (
    await database
      .prepare("SELECT id FROM servers WHERE name LIKE 'server-0%'")
      .bind()
      .all<{ id: string }>()
  ).results;
  if (!server) throw new Error('there is no server-0');
  await list();
  for (let round = 0; round < LOCAL_ROUNDS; round += 1) {
    await ask('/forget');
    await note('`tools/list`, first, on one machine', list);
  }
  const distances = Object.entries(DISTANCES).map(([kind, ms]) => `${kind}=${ms}`);
  await ask(`/ledger?keep&${distances.join('&')}`);
  await search(QUERIES[0] ?? '');
  await ask('/forget');
  await list();
  for (let round = 0; round < ROUNDS; round += 1) {
    await ask('/forget');
    await note('`tools/list`, first', list);
    await note('`tools/list`, again', list);
    await sleep(PAUSE_MS);
    await note('`tools/list`, after a pause', list);
    await rename(server.id, `server-0-${round}`);
    await sleep(PAUSE_MS);
    await note('`tools/list`, after an edit', list);
    await ask('/forget');
    await note('search, first', () => search(QUERIES[0] ?? ''));
    // A search reads the catalogs of its results if they were not read before.
    await list();
    for (const query of QUERIES) await note('search, again', () => search(query));
  }
  for (let n = 0; n < SERIES; n += 1) {
    const query = `${QUERIES[n % QUERIES.length]} ${n}`;
    await note('search, one of a series', () => search(query));
  }
  return took;
}

/** Returns the isolate's memory in bytes: at the start, and after lists and searches. */
async function measureMemory(host: Host, setting: Setting): Promise<[number, number]> {
  const { ask, list, search } = clientOf(host, setting);
  await ask('/ledger');
  const inspector = await openInspector(await host.inspectorPort(), 'portico');
  try {
    const before = await usedBytes(inspector);
    await list();
    for (const query of QUERIES) await search(query);
    return [before, await usedBytes(inspector)];
  } finally {
    inspector.close();
  }
}

function toRow(count: number, kind: string, took: readonly Took[]): string {
  const cells = (['d1.trips', 'd1.rowsRead', 'kv.reads'] as const).map(name =>
    median(took.map(({ counts }) => counts[name] ?? 0)),
  );
  const ms = took.map(each => each.ms);
  const times = [Math.min(...ms), median(ms), median(took.map(({ cpuMs }) => cpuMs))];
  const shown = times.map(time => `${time.toFixed(0)} ms`);
  return `| ${count.toLocaleString('en-US')} | ${[kind, ...shown, ...cells].join(' | ')} |`;
}

async function measure(port: number, count: number): Promise<string[]> {
  const token = `portico_${randomBytes(32).toString('base64url')}`;
  const secret = randomBytes(32).toString('base64');
  const keys = JSON.stringify({ active: 'k1', keys: { k1: secret } });
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-bench-servers-'));
  const setting = { dataDir, token, count };
  const within = async <T>(act: (host: Host) => Promise<T>, inspect = false): Promise<T> => {
    const host = await open(setting, keys, inspect);
    try {
      return await act(host);
    } finally {
      await host.close();
    }
  };
  try {
    const startedAt = performance.now();
    await within(host => registerMany(host, { token, port, count, tools: TOOLS }));
    say(`${count} servers registered in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
    const took = await within(host => measureTimes(host, setting));
    const memory = await within(host => measureMemory(host, setting), true);
    const [before, after] = memory.map(bytes => (bytes / MIB).toFixed(0));
    say(
      `${count} servers: ${before} MiB in the isolate at its start, ${after} MiB after a list and searches`,
    );
    return [...took].map(([kind, each]) => toRow(count, kind, each));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const counts = readWords(HELP).map(Number);
if (!counts.every(count => Number.isInteger(count) && count > 0)) {
  process.stderr.write('A count of servers is a whole number above 0; --help tells more\n');
  process.exit(2);
}
const upstream = fork(UPSTREAM, { stdio: 'inherit' });
try {
  const [message] = (await once(upstream, 'message')) as { port: number }[];
  if (!message) throw new Error('the upstream did not start');
  const rows: string[] = [];
  for (const count of counts.length > 0 ? counts : COUNTS) {
    rows.push(...(await measure(message.port, count)));
  }
  process.stdout.write(
    [
      '| servers | request | best | median | processor | D1 trips | rows read | KV reads |',
      '| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
      ...rows,
      '',
    ].join('\n'),
  );
} catch (error) {
  process.stderr.write(`bench failed: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  if (upstream.connected) upstream.disconnect();
}
