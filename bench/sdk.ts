/**
 * `tools/call` with programs that others wrote: clients of the SDK 1.x and 2.x, which declare capabilities for server requests, at a server
 * of the SDK 1.x, which responds with events. It is called directly, through the bare relay and through Portico, in turn. Servers of the
 * SDK give each session a notification stream for server requests; many others do not, and there a modern client's call costs less
 * (docs/decisions/0007-questions-across-eras.md).
 */
import { cpus } from 'node:os';
import type { Era } from './exchanges.ts';
import type { Options } from './options.ts';
import { measureSpeed, type Side, type Speed } from './peers/speed.ts';
import { startWide } from './peers/upstreams.ts';
import { startBench, type Bench } from './setup.ts';

const SERVERS = ['with a stream for each session', 'without'] as const;
const CLIENTS: readonly [Era, string][] = [
  ['legacy', 'SDK 1'],
  ['modern', 'SDK 2'],
];
/** Tools of each server, beside `echo`. */
const TOOLS = 4;

async function register(bench: Bench, name: string, url: string): Promise<void> {
  const record = { name, transport_type: 'HTTP', connection_config: { url } };
  await bench.request('/aggregator/servers', record);
  await bench.waitFor(name, TOOLS + 1);
}

function sidesOf(bench: Bench, name: string, url: string, era: Era): Side[] {
  const { portico, relay } = bench.ports;
  const headers = { authorization: `Bearer ${bench.token}` };
  const at = (address: string) => ({ transport: 'http' as const, url: address, headers });
  const through = `http://127.0.0.1:${relay}/relay?to=${encodeURIComponent(url)}`;
  return [
    { name: 'direct', endpoint: at(url), era },
    { name: 'relay', endpoint: at(through), era },
    { name: 'Portico', endpoint: at(`http://127.0.0.1:${portico}/mcp/servers/${name}`), era },
  ];
}

function toRow(title: string, speeds: readonly Speed[], clients: number): string {
  const of = (name: string) => speeds.find(one => one.name === name && one.clients === clients);
  const [direct, relay, portico] = ['direct', 'relay', 'Portico'].map(of);
  if (!direct || !relay || !portico) throw new Error(`${title}: a side was not measured`);
  const p50 = ({ p50Ms }: Speed) => `${p50Ms.toFixed(2)} ms`;
  const rate = ({ perSecond }: Speed) => Math.round(perSecond).toLocaleString('en-US');
  const cells = [
    title,
    clients,
    ...[direct, relay, portico].map(p50),
    (portico.p50Ms / relay.p50Ms).toFixed(2),
    ...[direct, relay, portico].map(rate),
    (portico.perSecond / relay.perSecond).toFixed(2),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Runs all rounds; returns a table. */
export async function measureSdk(options: Options, say: (line: string) => void): Promise<string> {
  say('starting a server of the SDK, the relay and Portico');
  const bench = await startBench({});
  const wide = await startWide();
  const rows: string[] = [];
  try {
    const [part] = wide.upstreams.parts(1, TOOLS);
    if (!part) throw new Error('there is no server');
    for (const [index, server] of SERVERS.entries()) {
      const url = index === 0 ? part.url : part.url.replace('/mcp/', '/quiet/');
      await register(bench, `sdk-${index}`, url);
      for (const [era, client] of CLIENTS) {
        say(`${client}, a server ${server}`);
        const terms = { rounds: options.rounds, sliceMs: options.secondsPerSlice * 1_000 };
        const sides = sidesOf(bench, `sdk-${index}`, url, era);
        const { speeds, failures } = await measureSpeed(sides, terms, say, () => {});
        if (failures.length > 0) throw new Error(failures.join('; '));
        for (const clients of new Set(speeds.map(speed => speed.clients))) {
          rows.push(toRow(`${client}, ${server}`, speeds, clients));
        }
      }
    }
  } finally {
    await wide.stop();
    await bench.stop();
  }
  const head = ['Client, server', 'Clients', 'direct p50', 'relay p50', 'Portico p50', 'to relay'];
  const headings = [...head, 'direct calls/s', 'relay calls/s', 'Portico calls/s', 'to relay'];
  return [
    `| ${headings.join(' | ')} |`,
    `| --- |${' ---: |'.repeat(headings.length - 1)}`,
    ...rows,
    '',
    `Medians of ${options.rounds} interleaved rounds of ${options.secondsPerSlice} s on ${cpus().length} cores that all share.`,
  ].join('\n');
}
