/**
 * `npm run bench:peers`: Portico beside other gateways in one run. Exit code 0 with a table, 1 if the run failed, 2 for wrong usage, 130
 * after Ctrl-C. Everything it started ends with it, whatever happens.
 */
import { writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { measureFidelity, withHome } from './fidelity.ts';
import type { Gateway, Started } from './gateway.ts';
import { gateways } from './gateways/all.ts';
import { measureLists, type ListCost } from './list-cost.ts';
import { parsePeerOptions, toHelp, type PeerOptions } from './options.ts';
import { installPackages } from './packages.ts';
import { memoryOf } from './processes.ts';
import { measureRecovery } from './recovery.ts';
import { toReport, type Findings } from './report.ts';
import { measureSpeed, type Side } from './speed.ts';
import { startWide } from './upstreams.ts';

const BOUND_MS = 15 * 60_000;
const DIRECT = 'direct';
const startedAt = Date.now();

const say = (line: string) => {
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(0).padStart(4);
  process.stderr.write(`${seconds} s  ${line}\n`);
};
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function measureLoad(
  chosen: readonly Gateway[],
  options: PeerOptions,
  failures: string[],
): Promise<Pick<Findings, 'speeds' | 'memory'>> {
  return withHome(async home => {
    const { upstreams, stop } = await startWide();
    const running: { gateway: Gateway; started: Started; idle: number }[] = [];
    const parts = upstreams.parts(1, 10);
    try {
      for (const gateway of chosen) {
        say(`starting ${gateway.name}`);
        try {
          const started = await gateway.start(parts, home);
          running.push({ gateway, started, idle: memoryOf(started.pids) });
        } catch (error) {
          failures.push(`${gateway.name}, load: ${messageOf(error)}`);
        }
      }
      const direct = { transport: 'http' as const, url: parts[0]?.url ?? '' };
      const sides: Side[] = [
        { name: DIRECT, endpoint: direct },
        ...running.map(({ gateway, started }) => ({
          name: gateway.name,
          endpoint: started.endpoint,
        })),
      ];
      let loaded: number[] = [];
      const found = await measureSpeed(sides, options, say, () => {
        loaded = running.map(({ started }) => memoryOf(started.pids));
      });
      failures.push(...found.failures);
      const memory = running.flatMap(({ gateway, started, idle }, at) =>
        started.pids.length > 0 ? [{ name: gateway.name, idle, loaded: loaded[at] ?? 0 }] : [],
      );
      return { speeds: found.speeds, memory };
    } finally {
      for (const { started } of running) await started.stop();
      await stop();
    }
  });
}

async function measureAll(options: PeerOptions): Promise<Findings> {
  const loadBefore = loadavg()[0] ?? 0;
  const { only } = options;
  const chosen = gateways.filter(({ name }) => only?.includes(name) ?? true);
  await installPackages();
  const failures: string[] = [];
  const { speeds, memory } = await measureLoad(chosen, options, failures);
  const fidelity: Findings['fidelity'] = [];
  const recoveries: Findings['recoveries'] = [];
  const lists: ListCost[] = [];
  for (const gateway of [undefined, ...chosen]) {
    const name = gateway?.name ?? DIRECT;
    say(`${name}: features`);
    const legacy = await measureFidelity(gateway, 'legacy');
    fidelity.push({ name, legacy, modern: await measureFidelity(gateway, 'modern') });
    say(`${name}: recovery`);
    try {
      recoveries.push({ name, recovery: await measureRecovery(gateway) });
    } catch (error) {
      failures.push(`${name}, recovery: ${messageOf(error)}`);
    }
    say(`${name}: a list of ${options.tools} tools`);
    try {
      lists.push(...(await measureLists(gateway, options.tools)));
    } catch (error) {
      failures.push(`${name}, list: ${messageOf(error)}`);
    }
  }
  const circumstances = {
    date: new Date().toISOString().slice(0, 10),
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    loadBefore,
    minutes: (Date.now() - startedAt) / 60_000,
    rounds: options.rounds,
    sliceMs: options.sliceMs,
  };
  const shown = { circumstances, gateways: chosen, fidelity, speeds, memory };
  return { ...shown, recoveries, lists, failures };
}

function readOptions(names: readonly string[]): PeerOptions | undefined {
  try {
    return parsePeerOptions(process.argv.slice(2), names);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(2);
  }
}

const names = gateways.map(({ name }) => name);
const options = readOptions(names);
if (options) {
  // A watcher process ends the children when this process is gone.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(130));
  }
  setTimeout(() => {
    process.stderr.write('bench failed: it took longer than 15 minutes\n');
    process.exit(1);
  }, BOUND_MS).unref();
  try {
    const report = toReport(await measureAll(options));
    if (options.out !== undefined) await writeFile(options.out, report);
    process.stdout.write(report);
  } catch (error) {
    process.stderr.write(`bench failed: ${messageOf(error)}\n`);
    process.exitCode = 1;
  }
} else {
  process.stdout.write(toHelp(names));
}
