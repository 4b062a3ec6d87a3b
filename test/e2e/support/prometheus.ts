/**
 * A real Prometheus that watches a gateway with the alerts of `monitoring/`, scraping every second, with shortened time windows. Owns its
 * process, ended by id, and its folder.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endChild, findFreePort, until } from '../../fixtures/start-fixture.ts';

const MONITORING = fileURLToPath(new URL('../../../monitoring/', import.meta.url));
const WAIT_MS = 60_000;

export interface FiringAlert {
  name: string;
  server: string | undefined;
}

export interface Prometheus {
  /** Waits until an alert fires, while `act` is repeated. */
  untilFires(alert: FiringAlert, act?: () => Promise<unknown>): Promise<unknown>;
  /** Waits until it no longer fires. */
  untilStops(alert: FiringAlert, act?: () => Promise<unknown>): Promise<unknown>;
  firing(): Promise<FiringAlert[]>;
  stop(): Promise<void>;
}

/** Reads a file of `monitoring/`. */
export const readMonitoring = (name: string): Promise<string> =>
  readFile(join(MONITORING, name), 'utf8');

/** Turns minutes into seconds for a test, and lowers the threshold of slow to what a person hardly notices. */
const shorten = (rules: string): string =>
  rules
    .replaceAll(/\[\d+m\]/g, '[15s]')
    .replaceAll(/for: \d+m/g, 'for: 1s')
    .replaceAll(/(upstream_duration_seconds_bucket\[15s\]\)\)\)) > 5/g, '$1 > 0.5');

interface Watched {
  /** The gateway's address: `127.0.0.1:8787`. */
  target: string;
  token: string;
}

/** @throws Error that says what to do if Prometheus is missing */
export async function startPrometheus({ target, token }: Watched): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-prometheus-'));
  const config = (await readMonitoring('prometheus.yml'))
    .replaceAll('30s', '1s')
    .replace('127.0.0.1:8787', target);
  await writeFile(join(folder, 'prometheus.yml'), config);
  await writeFile(join(folder, 'alerts.yml'), shorten(await readMonitoring('alerts.yml')));
  await writeFile(join(folder, 'portico-token'), token, { mode: 0o600 });
  const address = `127.0.0.1:${await findFreePort()}`;
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ];
  const child: ChildProcess = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr?.on('data', chunk => (said += String(chunk)));
  const stop = async () => {
    await endChild(child, 'SIGTERM');
    await rm(folder, { recursive: true, force: true });
  };
  await once(child, 'spawn').catch(async () => {
    await rm(folder, { recursive: true, force: true });
    throw new Error('This test needs Prometheus: apt-get install prometheus');
  });
  const ask = async <T>(path: string): Promise<T> =>
    ((await (await fetch(`http://${address}/api/v1/${path}`)).json()) as { data: T }).data;
  const firing = async () => {
    const { alerts } = await ask<{
      alerts: { state: string; labels: { alertname: string; server?: string } }[];
    }>('alerts');
    return alerts
      .filter(({ state }) => state === 'firing')
      .map(({ labels }) => ({ name: labels.alertname, server: labels.server }));
  };
  const isFiring = async ({ name, server }: FiringAlert) =>
    (await firing()).some(alert => alert.name === name && alert.server === server);
  const untilIs = (alert: FiringAlert, wanted: boolean, act?: () => Promise<unknown>) =>
    until(`${alert.name} ${wanted ? 'fires' : 'stops'}`, WAIT_MS, async () => {
      await act?.();
      return (await isFiring(alert)) === wanted ? true : undefined;
    }).catch(async (error: unknown) => {
      throw new Error(`${String(error)}; firing: ${JSON.stringify(await firing())}`);
    });
  await until('Prometheus has asked the gateway', WAIT_MS, async () => {
    if (child.exitCode !== null) return undefined;
    const { activeTargets } = await ask<{
      activeTargets: { health: string; lastError: string }[];
    }>('targets');
    const asked = activeTargets[0];
    if (asked?.lastError) said += `${asked.lastError}\n`;
    return asked?.health === 'up' ? true : undefined;
  }).catch(async (error: unknown) => {
    await stop();
    throw new Error(`${String(error)}\n${said}`);
  });
  return {
    firing,
    untilFires: (alert, act) => untilIs(alert, true, act),
    untilStops: (alert, act) => untilIs(alert, false, act),
    stop,
  };
}
