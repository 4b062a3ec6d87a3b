/** Prometheus accepts the files of `monitoring/`: metrics, rules with their own tests, and every query of the dashboard. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { readMonitoring } from '../support/prometheus.ts';

const MONITORING = fileURLToPath(new URL('../../../monitoring/', import.meta.url));
const METRIC = /\bportico_[a-z_]+/g;
/** The suffixes that Prometheus adds to a histogram. */
const PART = /_(?:bucket|sum|count)$/;

let gateway: Gateway;
let folder: string;

beforeAll(async () => {
  const [started, notes] = await Promise.all([startGateway(), startFixture('rich-modern')]);
  gateway = started;
  folder = await mkdtemp(join(tmpdir(), 'portico-rules-'));
  await gateway.register('notes', `${notes.origin}/mcp`);
  const call = { name: 'notes.echo', arguments: { message: 'hello' } };
  await gateway.api('POST', '/api/v1/tools/call', call);
});

afterAll(async () => {
  await gateway?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Runs promtool. @returns its output and exit status */
function promtool(args: string[], input = '') {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, {
    cwd: MONITORING,
    input,
    encoding: 'utf8',
  });
  if (error) throw new Error('This test needs promtool: apt-get install prometheus');
  return { status, said: stdout + stderr };
}

interface Panel {
  targets?: { expr: string }[];
}
async function expressions(): Promise<string[]> {
  const { panels } = JSON.parse(await readMonitoring('dashboard.json')) as { panels: Panel[] };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

it('[OPS-2] the metrics have the format that Prometheus requires', async () => {
  const { text } = await gateway.api('GET', '/metrics');
  expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, said: '' });
  expect(promtool(['check', 'metrics'], text.replaceAll('# HELP', '#')).status).not.toBe(0);
});

it('[OPS-2] the rules are valid, and fire as their tests say', () => {
  for (const args of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ]) {
    expect(promtool(args)).toMatchObject({ status: 0 });
  }
});

it('[OPS-2] Prometheus understands every query of the dashboard', async () => {
  const all = await expressions();
  expect(all.length).toBeGreaterThan(5);
  const toRule = (expr: string, at: number) => ({
    record: `panel_${at}`,
    expr: expr.replaceAll('$__rate_interval', '2m').replaceAll('$server', '.*'),
  });
  const file = join(folder, 'panels.yml');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules: all.map(toRule) }] }));
  expect(promtool(['check', 'rules', file])).toMatchObject({ status: 0 });
});

it('[OPS-2] rules and dashboard use only metrics that exist', async () => {
  const { text } = await gateway.api('GET', '/metrics');
  const known = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(found => found[1]));
  const asked = [...(await expressions()), await readMonitoring('alerts.yml')].join('\n');
  const names = [...asked.matchAll(METRIC)].map(([name]) => name.replace(PART, ''));
  expect(names).toContain('portico_server_calls_total');
  expect(names.filter(name => !known.has(name))).toEqual([]);
});
