/**
 * `npm run bench:documents`: the figures that the source documents of Portico require, beside measured values, at a gateway with its
 * default settings and one with a model. Loopback only; ends by itself, within ten minutes whatever happens.
 *
 * Owns: the gateways, the upstreams, the data folders and the exit code: 0 where every figure is met, 1 where one is not or anything
 * failed.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startHost, type Host } from '../../local/host.ts';
import { openLogFile } from '../../local/log-file.ts';
import { readSourceFiles } from '../../local/source-files.ts';
import { measureAll, NUMBERS } from './numbers.ts';
import { endUpstream, Stand, startMadeUp, startModel, startMoody } from './stand.ts';

const HELP = `npm run bench:documents

Measures the numbers of the source documents (2 s, 5 s, 150 ms, 30 s, 50 ms, 100 calls/s, 10,000 tools, …) at a
gateway with its default settings, and prints a table. Takes some three minutes; loopback only; ends by itself.

  --help   this text
`;
const LONGEST_MS = 600_000;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const hosts: Host[] = [];
const folders: string[] = [];

async function startGateway(env: Record<string, string> = {}) {
  const token = `portico_${randomBytes(32).toString('base64url')}`;
  const keys = { active: 'k1', keys: { k1: randomBytes(32).toString('base64') } };
  const dataDir = await mkdtemp(join(tmpdir(), 'portico-bench-documents-'));
  folders.push(dataDir);
  const host = await startHost({
    files: await readSourceFiles(),
    dataDir,
    port: 0,
    log: openLogFile(join(dataDir, 'log')),
    env: { PORTICO_KEYS: JSON.stringify(keys), PORTICO_ADMIN_TOKEN: token, ...env },
  });
  hosts.push(host);
  return { origin: host.url, token };
}

function toTable(values: ReadonlyMap<string, number>): string {
  const rows = NUMBERS.map(({ id, says, wanted, unit, isMet }) => {
    const value = values.get(id) ?? Number.NaN;
    const shown = value.toLocaleString('en-US', { maximumFractionDigits: 1 });
    return `| ${id} | ${says} | ${wanted} | ${shown} ${unit} | ${isMet(value) ? 'yes' : 'no'} |`;
  });
  const head = ['| Number | What | Wanted | Measured | Met |', '| --- | --- | ---: | ---: | --- |'];
  return [...head, ...rows].join('\n');
}

async function run(): Promise<boolean> {
  const [load = 0] = loadavg();
  const upstreams = [await startMadeUp(), await startMoody(), await startModel()] as const;
  const [madeUp, moody, model] = upstreams;
  try {
    say('starting the gateways');
    const plain = new Stand(await startGateway(), madeUp, moody);
    const env = { PORTICO_MODEL_URL: `http://127.0.0.1:${model.port}/v1`, ...model.env };
    const sorting = new Stand(await startGateway(env), madeUp, moody);
    const values = await measureAll(plain, sorting, say);
    const cores = cpus();
    process.stdout.write(
      `${toTable(values)}\n\n${new Date().toISOString().slice(0, 10)}, ${cores.length} cores (${cores[0]?.model}), ` +
        `Node ${process.versions.node}, load ${load.toFixed(2)} before the run.\n`,
    );
    return NUMBERS.every(({ id, isMet }) => isMet(values.get(id) ?? Number.NaN));
  } finally {
    await Promise.all(hosts.map(host => host.close()));
    await Promise.all(upstreams.map(endUpstream));
    await Promise.all(folders.map(folder => rm(folder, { recursive: true, force: true })));
  }
}

const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
if (values.help) process.stdout.write(HELP);
else {
  const timer = setTimeout(() => {
    say(`bench failed: not within ${LONGEST_MS / 60_000} minutes`);
    process.exit(1);
  }, LONGEST_MS);
  try {
    if (!(await run())) process.exitCode = 1;
  } catch (error) {
    say(`bench failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    clearTimeout(timer);
  }
}
