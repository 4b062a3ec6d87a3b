/** Measurements for the figures of the documents. Later ones use the servers that earlier ones registered: ten, then twenty and more. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { percentile } from '../load.ts';
import { loadPublicTools } from '../../test/fixtures/public-tools.ts';
import { readBody } from '../../test/fixtures/serve.ts';
import { median } from '../statistics.ts';
import { endUpstream, startMadeUp, type Stand } from './stand.ts';

/** A number of servers, and the tools of each. */
interface Size {
  servers: number;
  tools: number;
}

const SMALL: Size = { servers: 10, tools: 100 };
const LARGE: Size = { servers: 10, tools: 900 };
const THOUSAND = 1_000;
const QUERIES = ['create a GitHub issue', 'which invoices were not paid', 'delete an old branch'];
const RUNS = 100;
const LOAD = { clients: 16, calls: 1_600 };
const AT_ONCE = 50;
const AWAY = 5;
const SORTED = 60;
const IDLE = 10;
/** Seconds: nine tenths of thirty, minus half a second for a busy machine. */
const SOONEST = 26.5;

const nameOf = ({ tools }: Size, index: number) => `of-${tools}-${index}`;
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Registers servers one after the other; returns how long each registration took, in milliseconds. */
async function fill(stand: Stand, size: Size): Promise<number[]> {
  const times: number[] = [];
  const ids: string[] = [];
  for (const index of upTo(size.servers)) {
    const url = stand.urlOf(index, size.tools);
    times.push(await timed(async () => ids.push(await stand.register(nameOf(size, index), url))));
  }
  for (const id of ids) await stand.whenStatus(id, 'CONNECTED');
  return times;
}

/** The slowest of ten registrations. */
export const registration = async (stand: Stand) => Math.max(...(await fill(stand, SMALL)));

const searched = async (stand: Stand, query: string) => {
  const { json } = await stand.ask('/search', { query });
  return (json as { metadata: { total_tools_searched: number } }).metadata.total_tools_searched;
};

async function searches(stand: Stand, tools: number): Promise<number> {
  await stand.until(`${tools} tools are searched`, async () =>
    (await searched(stand, 'a tool')) >= tools ? true : undefined,
  );
  const times: number[] = [];
  for (const n of upTo(RUNS)) {
    times.push(await timed(() => searched(stand, `${QUERIES[n % QUERIES.length]} ${n}`)));
  }
  return percentile(Float64Array.from(times).toSorted(), 0.95);
}

export const searchSmall = (stand: Stand) => searches(stand, SMALL.servers * SMALL.tools);

async function callWell(stand: Stand, tool: string): Promise<void> {
  const { status, code } = await stand.call(tool);
  if (status !== 200) throw new Error(`a call answered ${status} ${code}`);
}

/** How much longer a call through the gateway takes than the same call directly to its server. */
export async function overhead(stand: Stand): Promise<number> {
  const tool = await stand.toolOf(nameOf(SMALL, 0));
  const params = { name: tool.slice(tool.indexOf('.') + 1) };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const direct = async () =>
    (await fetch(stand.urlOf(0, SMALL.tools), { method: 'POST', body })).text();
  const added: number[] = [];
  for (const n of upTo(RUNS + 10)) {
    const through = await timed(() => callWell(stand, tool));
    const alone = await timed(direct);
    if (n >= 10) added.push(through - alone);
  }
  return median(added);
}

/** Successful calls per second. */
export async function throughput(stand: Stand): Promise<number> {
  const tool = await stand.toolOf(nameOf(SMALL, 0));
  let left = LOAD.calls;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      await callWell(stand, tool);
    }
  };
  const ms = await timed(() => Promise.all(Array.from({ length: LOAD.clients }, client)));
  return (LOAD.calls / ms) * 1_000;
}

/** Number of successful calls among those made at the same time. */
export async function atOnce(stand: Stand): Promise<number> {
  const tool = await stand.toolOf(nameOf(SMALL, 1));
  const answers = await Promise.all(upTo(AT_ONCE).map(() => stand.call(tool)));
  return answers.filter(({ status }) => status === 200).length;
}

/** Time until the tools of a large server are discovered. */
export const discovery = (stand: Stand) =>
  timed(async () => {
    const id = await stand.register('thousand', stand.urlOf(99, THOUSAND));
    const { tool_count: count } = await stand.whenStatus(id, 'CONNECTED');
    if (count !== THOUSAND) throw new Error(`${count} tools were discovered`);
  });

/** Number of servers that are connected and answer a call. */
export async function connected(stand: Stand): Promise<number> {
  await fill(stand, LARGE);
  const names = [SMALL, LARGE].flatMap(size => upTo(size.servers).map(n => nameOf(size, n)));
  const answers = [];
  for (const name of names) answers.push(await stand.call(await stand.toolOf(name)));
  return answers.filter(({ status }) => status === 200).length;
}

const ALL = SMALL.servers * SMALL.tools + LARGE.servers * LARGE.tools + THOUSAND;

export const searchLarge = (stand: Stand) => searches(stand, ALL);

export const allTools = (stand: Stand) => searched(stand, 'a tool');

/** Percentage of servers that are connected and answer after their process was killed and restarted. */
export async function reconnects(stand: Stand): Promise<number> {
  const away = await startMadeUp();
  const ids: string[] = [];
  for (const n of upTo(AWAY)) ids.push(await stand.register(`away-${n}`, stand.urlOf(n, 3, away)));
  const all = (status: string) => Promise.all(ids.map(id => stand.whenStatus(id, status)));
  await all('CONNECTED');
  const tools = await Promise.all(upTo(AWAY).map(n => stand.toolOf(`away-${n}`)));
  await endUpstream(away);
  await all('ERROR');
  const again = await startMadeUp(away.port);
  await all('CONNECTED');
  const answers = await Promise.all(tools.map(tool => stand.call(tool)));
  await endUpstream(again);
  return (answers.filter(({ status }) => status === 200).length / AWAY) * 100;
}

/**
 * Seconds between two checks of healthy, idle servers, as their health addresses see them, on average. Each interval is randomised by a
 * tenth, so that servers are not checked at the same moment: one interval alone would say nothing. The API shows equal checks only now and
 * then.
 * @throws Error where a check came too soon
 */
export async function interval(stand: Stand): Promise<number> {
  const heard = new Map<string, number[]>();
  const health = createServer(({ url = '' }, response) => {
    heard.set(url, [...(heard.get(url) ?? []), performance.now()]);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(health, 'listening');
  const origin = `http://127.0.0.1:${(health.address() as AddressInfo).port}`;
  for (const n of upTo(IDLE)) {
    await stand.register(`idle-${n}`, stand.urlOf(200 + n, 1), `${origin}/${n}`);
  }
  const isHeard = () =>
    heard.size === IDLE && [...heard.values()].every(({ length }) => length > 1);
  await stand.until('two checks of each', async () => isHeard() || undefined);
  health.close();
  const gaps = [...heard.values()].map(([first = 0, second = 0]) => (second - first) / 1_000);
  if (Math.min(...gaps) < SOONEST) throw new Error(`a check came after ${Math.min(...gaps)} s`);
  return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
}

interface Silence {
  callSeconds: number;
  checkMs: number;
  failed: number;
}

/**
 * A server that accepts requests and answers none: how long a call and a check take until they are ended, and how many failed checks lead
 * to ERROR.
 */
async function silent(stand: Stand): Promise<Silence> {
  const id = await stand.register('silent', `${stand.moodyUrl}/mcp`);
  await stand.whenStatus(id, 'CONNECTED');
  const tool = await stand.toolOf('silent');
  await (await fetch(`${stand.moodyUrl}/control?mood=hang`)).text();
  const callMs = await timed(() => stand.call(tool));
  await stand.whenStatus(id, 'ERROR');
  const failed = (await stand.checks(id)).filter(({ finding }) => finding === 'failed');
  const checkMs = median(failed.map(({ response_time_ms: ms }) => ms ?? Number.NaN));
  return { callSeconds: callMs / 1_000, checkMs, failed: failed.length };
}

const silences = new WeakMap<Stand, Promise<Silence>>();
/** Measured once per stand: three figures come from it. */
const silence = (stand: Stand): Promise<Silence> => {
  const known = silences.get(stand) ?? silent(stand);
  silences.set(stand, known);
  return known;
};

export const callTimeout = async (stand: Stand) => (await silence(stand)).callSeconds;
export const checkTimeout = async (stand: Stand) => (await silence(stand)).checkMs / 1_000;
export const failuresToError = async (stand: Stand) => (await silence(stand)).failed;

/** Seconds from a registration until a model has classified the server's tools into skills. */
async function sorted(stand: Stand, tools: number): Promise<number> {
  const ms = await timed(async () => {
    const id = await stand.register(`sorted-${tools}`, stand.urlOf(tools, tools));
    await stand.until('all are sorted', async () => {
      const { json } = await stand.ask(`/aggregator/servers/${id}/skills`);
      const known = (json as { tools?: { source: string; reason: string | null }[] }).tools ?? [];
      // For some tools the model finds no skill.
      const done = known.filter(
        ({ source, reason }) => source === 'llm' || reason?.startsWith('The model found') === true,
      );
      return done.length === tools ? true : undefined;
    });
  });
  return ms / 1_000;
}

export const sortOne = (stand: Stand) => sorted(stand, 1);
export const sortMany = (stand: Stand) => sorted(stand, SORTED);

/** Percentage of the tools of public servers that the gateway itself classifies into a skill. */
export async function classified(stand: Stand): Promise<number> {
  const { tools } = loadPublicTools();
  const inputSchema = { type: 'object' };
  const common = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' };
  const results: Readonly<Record<string, object>> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools: tools.map(tool => ({ ...tool, inputSchema })) },
  };
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(await readBody(request)) as { id: number; method: string };
    const result = { ...common, ...results[method] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const id = await stand.register('public', `http://127.0.0.1:${port}/mcp`);
  const all = await stand.until('all were looked at', async () => {
    const { json } = await stand.ask(`/aggregator/servers/${id}/skills`);
    const known =
      (json as { tools?: { is_classified: boolean; reason: string | null }[] }).tools ?? [];
    const isLookedAt = known.every(each => each.is_classified || each.reason !== null);
    return known.length === tools.length && isLookedAt ? known : undefined;
  });
  server.closeAllConnections();
  server.close();
  return (all.filter(each => each.is_classified).length / all.length) * 100;
}
