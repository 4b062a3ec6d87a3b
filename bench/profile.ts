/**
 * CPU profiles of Portico under load, read from workerd's inspector (Chrome DevTools Protocol, domain Profiler).
 *
 * Owns: one profile per case, written as `{case}.cpuprofile`, and the list of functions with the most self time. Refuses: to be part of a
 * measurement, since an attached inspector makes everything slower.
 */
import { writeFile } from 'node:fs/promises';

import { openInspector, type CpuProfile, type Inspector } from './inspector.ts';
import { createCases, measureSlice } from './measure.ts';
import { MAX_CONNECTIONS } from './setup.ts';
import type { Bench } from './setup.ts';

const WARM_UP_MS = 1_000;
const PROFILE_MS = 4_000;
const SAMPLING_INTERVAL_US = 200;
const SHOWN = 25;

interface HotFunction {
  name: string;
  ms: number;
}

/** Returns the module of a line, from the path that esbuild wrote above it; the script's URL if it is not a bundle. */
function createModuleFinder(script: string, url: string): (line: number) => string {
  let path = url;
  const paths = script.split('\n').map(line => {
    path = /^\/\/ (\S+\.(?:ts|js|mjs))$/.exec(line)?.[1] ?? path;
    return path;
  });
  return line => paths[line] ?? '';
}

/** Reads the source of each script in a profile; afterwards, so that the debugger slows nothing down. */
async function findModules(
  inspector: Inspector,
  profile: CpuProfile,
): Promise<Map<string, (line: number) => string>> {
  await inspector.send('Debugger.enable');
  const modules = new Map<string, (line: number) => string>();
  for (const { callFrame } of profile.nodes) {
    const { scriptId, url } = callFrame;
    if (url === '' || modules.has(scriptId)) continue;
    const { result } = await inspector.send('Debugger.getScriptSource', { scriptId });
    modules.set(scriptId, createModuleFinder(result?.scriptSource ?? '', url));
  }
  await inspector.send('Debugger.disable');
  return modules;
}

/** Sums the self time of each function; native functions are listed by their caller. */
async function findHottest(inspector: Inspector, profile: CpuProfile): Promise<HotFunction[]> {
  const modules = await findModules(inspector, profile);
  const names = new Map<number, string>();
  const visit = (nodes: readonly number[], caller: string): void => {
    for (const id of nodes) {
      const node = byId.get(id);
      if (!node) continue;
      const { functionName, scriptId, lineNumber } = node.callFrame;
      const path = modules.get(scriptId)?.(lineNumber);
      const own = functionName || '(anonymous)';
      const name = path === undefined ? own + (caller && ` in ${caller}`) : `${own}, ${path}`;
      names.set(id, name);
      visit(node.children ?? [], path === undefined ? caller : name);
    }
  };
  const byId = new Map(profile.nodes.map(node => [node.id, node]));
  visit(profile.nodes[0]?.children ?? [], '');
  const spent = new Map<string, number>();
  profile.samples.forEach((id, index) => {
    const name = names.get(id) ?? '(unknown)';
    spent.set(name, (spent.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1_000);
  });
  return [...spent].map(([name, ms]) => ({ name, ms })).toSorted((a, b) => b.ms - a.ms);
}

function toText(request: string, calls: number, hottest: HotFunction[]): string {
  const total = hottest.reduce((sum, { ms }) => sum + ms, 0);
  const lines = hottest
    .slice(0, SHOWN)
    .map(
      ({ name, ms }) =>
        `${((ms / total) * 100).toFixed(1).padStart(6)} % ${((ms / calls) * 1_000).toFixed(1).padStart(8)} µs  ${name}`,
    );
  return [`${request}: ${calls} requests, self time in all and per request`, ...lines, ''].join(
    '\n',
  );
}

/** Profiles Portico in every case at the full number of clients; writes to `folder` and prints. */
export async function profileCases(bench: Bench, folder: string): Promise<void> {
  const inspector = await openInspector(await bench.inspectorPort(), 'portico');
  try {
    await inspector.send('Profiler.enable');
    await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
    for (const measured of await createCases(bench)) {
      const slice = { clients: MAX_CONNECTIONS, exact: false };
      await measureSlice(bench, measured, 'portico', { ...slice, durationMs: WARM_UP_MS });
      await inspector.send('Profiler.start');
      const sample = await measureSlice(bench, measured, 'portico', {
        ...slice,
        durationMs: PROFILE_MS,
      });
      const { result } = await inspector.send('Profiler.stop');
      if (!result?.profile) throw new Error('the inspector gave no profile');
      const file = `${measured.request.replaceAll(/[^a-z]+/g, '-')}.cpuprofile`;
      await writeFile(`${folder}${file}`, JSON.stringify(result.profile));
      const hottest = await findHottest(inspector, result.profile);
      process.stdout.write(`${toText(measured.request, sample.latenciesMs.length, hottest)}\n`);
    }
  } finally {
    inspector.close();
  }
}
