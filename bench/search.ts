/**
 * The cost of a search in workerd: `POST /api/v1/search` over 10 servers with 1,000 and with 10,000 tools. Warm, beside the same request
 * that searches no server; cold, as the first request after a start on the data of an earlier run, whose index is stored; and the memory
 * that workerd needs for it.
 *
 * Owns: the upstream, the host (restarted for each cold search) and the data folders.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startHost } from '../local/host.ts';
import type { Host } from '../local/host.ts';
import { readSourceFiles } from '../local/source-files.ts';
import { percentile } from './load.ts';
import { requestJson, waitForServers } from './setup.ts';

const UPSTREAM = fileURLToPath(new URL('./search-upstream.ts', import.meta.url));
const SERVERS = 10;
const TOTALS = [1_000, 10_000] as const;
const WARM_SEARCHES = 300;
const COLD_STARTS = 5;
const HOUR_MS = 3_600_000;
const MIB = 1_048_576;
const QUERIES = [
  'open a ticket for the customer',
  'which invoices were not paid',
  'send a message to the channel of my team',
  'delete an old branch of the repository',
  'show me the dashboard with the alerts of the cluster',
  'copy a page to another space',
];

interface Setting {
  dataDir: string;
  token: string;
  env: Record<string, string>;
}

const open = async ({ dataDir, env }: Setting): Promise<Host> =>
  startHost({ files: await readSourceFiles(), dataDir, port: 0, env });

async function search({ url }: Host, token: string, body: object): Promise<number> {
  const startedAt = performance.now();
  const { metadata } = await requestJson<{ metadata: { total_tools_searched: number } }>(
    `${url}/api/v1/search`,
    token,
    body,
  );
  const elapsedMs = performance.now() - startedAt;
  const isNone = 'server_filter' in body;
  if (isNone !== (metadata.total_tools_searched === 0))
    throw new Error('a search missed its tools');
  return elapsedMs;
}

/** Resident memory of the workerd processes that this process started, in bytes. */
function residentBytes(): number {
  const children = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  return children.reduce((sum, pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      if (!/^Name:\s+workerd/m.test(status)) return sum;
      if (Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) !== process.pid) return sum;
      return sum + Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1_024;
    } catch {
      // It ended meanwhile.
      return sum;
    }
  }, 0);
}

async function fill(setting: Setting, upstreamPort: number, total: number): Promise<number> {
  const host = await open(setting);
  try {
    const startedAt = performance.now();
    const api = `${host.url}/api/v1`;
    const names = new Set<string>();
    for (let index = 0; index < SERVERS; index += 1) {
      const name = `server-${index}`;
      names.add(name);
      const url = `http://127.0.0.1:${upstreamPort}/${index}/${total / SERVERS}`;
      const connection_config = { url };
      const record = { name, transport_type: 'HTTP', connection_config };
      await requestJson(`${api}/aggregator/servers`, setting.token, record);
    }
    await waitForServers(api, setting.token, names, total / SERVERS);
    return performance.now() - startedAt;
  } finally {
    await host.close();
  }
}

async function measureWarm(host: Host, token: string): Promise<Record<string, Float64Array>> {
  const sides = { search: {}, none: { server_filter: ['none'] } };
  const times = { search: [] as number[], none: [] as number[] };
  for (let n = -20; n < WARM_SEARCHES; n += 1) {
    for (const side of ['search', 'none'] as const) {
      const query = `${QUERIES[Math.abs(n) % QUERIES.length]} ${n}`;
      const elapsedMs = await search(host, token, { query, ...sides[side] });
      if (n >= 0) times[side].push(elapsedMs);
    }
  }
  return {
    search: Float64Array.from(times.search).toSorted(),
    none: Float64Array.from(times.none).toSorted(),
  };
}

const ms = (value: number) => `${value.toFixed(1)} ms`;

async function measureTotal(upstreamPort: number, total: number): Promise<string> {
  const token = `portico_${randomBytes(32).toString('base64url')}`;
  const keys = { active: 'k1', keys: { k1: randomBytes(32).toString('base64') } };
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-bench-search-'));
  const env = {
    PORTICO_KEYS: JSON.stringify(keys),
    PORTICO_ADMIN_TOKEN: token,
    PORTICO_DISCOVERY_INTERVAL_MS: String(HOUR_MS),
    PORTICO_HEALTH_INTERVAL_MS: String(HOUR_MS),
  };
  const setting = { dataDir, token, env };
  try {
    const filledMs = await fill(setting, upstreamPort, total);
    const cold: number[] = [];
    const grown: number[] = [];
    let warm: Record<string, Float64Array> = {};
    for (let start = 0; start < COLD_STARTS; start += 1) {
      const host = await open(setting);
      try {
        // Excludes what is not part of the search: sockets, the token, the registry.
        await search(host, token, { query: 'none', server_filter: ['none'] });
        await sleep(500);
        const before = residentBytes();
        cold.push(await search(host, token, { query: QUERIES[0] }));
        grown.push(residentBytes() - before);
        if (start === COLD_STARTS - 1) warm = await measureWarm(host, token);
      } finally {
        await host.close();
      }
    }
    const { search: found = new Float64Array(), none = new Float64Array() } = warm;
    const coldMs = Float64Array.from(cold).toSorted();
    const grownBytes = Float64Array.from(grown).toSorted();
    return [
      total.toLocaleString('en-US'),
      ms(percentile(found, 0.5)),
      ms(percentile(found, 0.99)),
      ms(percentile(none, 0.5)),
      `${ms(percentile(coldMs, 0.5))} (${ms(coldMs.at(-1) ?? Number.NaN)})`,
      `${(percentile(grownBytes, 0.5) / MIB).toFixed(0)} MiB`,
      `${(filledMs / 1_000).toFixed(1)} s`,
    ].join(' | ');
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Runs everything; returns a table. */
export async function measureSearch(say: (line: string) => void): Promise<string> {
  const upstream = fork(UPSTREAM, { stdio: 'inherit' });
  const [message] = (await once(upstream, 'message')) as { port: number }[];
  if (!message) throw new Error('the upstream did not start');
  try {
    const rows: string[] = [];
    for (const total of TOTALS) {
      say(`${total} tools of ${SERVERS} servers`);
      rows.push(await measureTotal(message.port, total));
    }
    return [
      'Tools | Warm p50 | p99 | No server p50 | Cold median (worst) | Memory grown | Registered and indexed',
      '---|---|---|---|---|---|---',
      ...rows,
      '',
      `${WARM_SEARCHES} searches one after the other on ${cpus().length} cores, HTTP included; cold: the first search after each of ${COLD_STARTS} starts.`,
    ].join('\n');
  } finally {
    if (upstream.connected) upstream.disconnect();
  }
}
