/**
 * `npm run bench:console`: waiting times for each view and each filter of the console, at a gateway with 1,000 servers, 10,000 tools and
 * 100,000 audit rows: in Chromium, on the same machine as the gateway. Loopback only; ends by itself. With a folder, `npm run bench:console
 * -- FOLDER`, the data is kept there and reused by the next run.
 *
 * Owns: the upstream, the host, the browser, and the data folder unless one was given.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startHost, type Host } from '../../local/host.ts';
import { readSourceFiles } from '../../local/source-files.ts';
import { launchBrowser } from '../../test/e2e/support/browser.ts';
import { requestJson } from '../setup.ts';
import { readWords } from '../words.ts';
import { fill } from './fill.ts';
import { filterTime, firstPaint, signIn, type Filter } from './looks.ts';

const HELP = `npm run bench:console [-- FOLDER]

How long somebody waits for each view of the console and each filter, in Chromium, with 1,000 servers,
10,000 tools and 100,000 calls. Prints a table after some six minutes. Loopback only; ends by itself.
FOLDER keeps the data for the next run.

  npm run bench:console
`;
const UPSTREAM = fileURLToPath(new URL('../search-upstream.ts', import.meta.url));
const ROUNDS = 7;
const HOUR_MS = 3_600_000;
const rowsSay = (text: string) =>
  `[...document.querySelectorAll('main tbody tr')].every(row => row.textContent.includes('${text}')) && document.querySelector('main tbody tr')`;

const FILTERS: readonly Filter[] = [
  {
    path: '/servers',
    name: 'name',
    field: 'main input[type=search]',
    value: 'server-77',
    holds: rowsSay('server-77'),
  },
  {
    path: '/servers',
    name: 'state',
    field: 'main select',
    value: 'ERROR',
    holds: `document.querySelector('main .empty')`,
  },
  {
    path: '/tools',
    name: 'words',
    field: '#query',
    value: 'which invoices were not paid',
    holds: `/^The best \\d+ of /.test(document.querySelector('main [role=status]')?.textContent.trim())`,
  },
  {
    path: '/activity',
    name: 'kind',
    field: 'main select',
    value: 'acts',
    holds: `[...document.querySelectorAll('main tbody tr')].every(row => !row.textContent.includes('called')) && document.querySelector('main tbody tr')`,
  },
  {
    path: '/activity?kind=calls',
    name: 'who',
    field: 'main input',
    value: 'Grace',
    holds: rowsSay('Grace'),
  },
];

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const toRow = (what: string, ms: readonly number[]): string =>
  `| ${what} | ${[Math.min(...ms), median(ms), Math.max(...ms)].map(time => `${time.toFixed(0)} ms`).join(' | ')} |`;

async function measure(host: Host, token: string): Promise<string[]> {
  const browser = await launchBrowser();
  try {
    const scopes = ['admin', 'tools:read', 'tools:call'];
    const body = { name: 'Looker', scopes };
    const made = await requestJson<{ token: string }>(`${host.url}/api/v1/tokens`, token, body);
    const { signedIn, views } = await signIn(browser, host.url, made.token);
    const rows: string[] = [];
    const rounds = async (what: string, act: () => Promise<number>) => {
      const took: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) took.push(await act());
      rows.push(toRow(what, took));
      say(rows.at(-1) ?? '');
    };
    for (const { name, url } of views) {
      await rounds(name, () => firstPaint(browser, signedIn, url));
    }
    for (const filter of FILTERS) {
      const url = `${host.url}/console${filter.path}`;
      const what = `${filter.path.slice(1)}: ${filter.name} \`${filter.value}\``;
      await rounds(what, () => filterTime(browser, signedIn, url, filter));
    }
    return rows;
  } finally {
    await browser.close();
  }
}

/** Needed to open a kept folder again. */
interface Kept {
  token: string;
  keys: string;
}

const make = (): Kept => {
  const keys = { active: 'k1', keys: { k1: randomBytes(32).toString('base64') } };
  const token = `portico_${randomBytes(32).toString('base64url')}`;
  return { token, keys: JSON.stringify(keys) };
};

/** Measures the data in the folder; fills the folder first if it is empty. */
async function run(dataDir: string, port: number): Promise<string[]> {
  const note = join(dataDir, 'bench.json');
  const kept = await readFile(note, 'utf8').catch(() => undefined);
  const { token, keys } = kept === undefined ? make() : (JSON.parse(kept) as Kept);
  const env = {
    PORTICO_KEYS: keys,
    PORTICO_ADMIN_TOKEN: token,
    PORTICO_DISCOVERY_INTERVAL_MS: String(HOUR_MS),
    PORTICO_HEALTH_INTERVAL_MS: String(HOUR_MS),
  };
  const host = await startHost({
    files: await readSourceFiles(),
    dataDir,
    port: 0,
    opensDatabase: true,
    env,
  });
  try {
    if (kept === undefined) {
      await fill(host, { token, port, say });
      await writeFile(note, JSON.stringify({ token, keys }), { mode: 0o600 });
    }
    return await measure(host, token);
  } finally {
    await host.close();
  }
}

async function runWithin(port: number): Promise<string[]> {
  if (folder !== undefined) return run(folder, port);
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-bench-console-'));
  try {
    return await run(dataDir, port);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const [folder] = readWords(HELP);
const upstream = fork(UPSTREAM, { stdio: 'inherit' });
try {
  const [message] = (await once(upstream, 'message')) as { port: number }[];
  if (!message) throw new Error('the upstream did not start');
  const rows = await runWithin(message.port);
  const head = `| on ${cpus().length} cores | best | median | worst |`;
  process.stdout.write([head, '| --- | ---: | ---: | ---: |', ...rows, ''].join('\n'));
} catch (error) {
  process.stderr.write(`bench failed: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  if (upstream.connected) upstream.disconnect();
}
