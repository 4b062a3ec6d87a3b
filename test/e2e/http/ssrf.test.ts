/**
 * No address that an administrator or a server supplies makes the deployed Worker fetch a forbidden target: each forbidden address of the
 * corpus at each place that takes one, counted at the network itself.
 */
import { Response, type Request } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCorpus } from '../../fixtures/corpora.ts';
import { until } from '../../fixtures/start-fixture.ts';
import { startProduction, type Production } from '../support/production.ts';

const SERVERS = '/api/v1/aggregator/servers';
const corpus = loadCorpus('ssrf-urls');
const forbidden = corpus.cases
  .filter(({ expect: verdict }) => verdict === 'block' || verdict === 'reject')
  .map(({ url }) => url);
const allowed = corpus.cases
  .filter(({ expect: verdict }) => verdict === 'allow')
  .map(({ url }) => url);

/** Every request that left the Worker. */
const left: string[] = [];
/** Special responses of hosts, by host name; all other hosts are plain servers. */
const hosts = new Map<string, (request: Request) => Response>();

/** The default host: a stateless modern server with one tool. */
async function plainServer(request: Request): Promise<Response> {
  if (request.method !== 'POST') return new Response(null, { status: 405 });
  const { id, method } = (await request.json()) as { id: unknown; method: string };
  const results: Record<string, object> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
  };
  const result = { resultType: 'complete', ...results[method] };
  return Response.json({ jsonrpc: '2.0', id, result });
}

let portico: Production;
beforeAll(async () => {
  portico = await startProduction(request => {
    left.push(request.url);
    const answer = hosts.get(new URL(request.url).hostname);
    return answer ? answer(request) : plainServer(request);
  });
});
afterAll(() => portico.close());

const config = (name: string, url: string, more: object = {}) => ({
  name,
  transport_type: 'HTTP',
  connection_config: { url },
  ...more,
});

async function register(name: string, url: string, more: object = {}): Promise<string> {
  const { status, json } = await portico.api('POST', SERVERS, config(name, url, more));
  expect([name, status]).toEqual([name, 201]);
  return String(json['id']);
}

/** Whether no test here registered an allowed address of this host. */
const known = new Set(allowed.map(url => new URL(url).hostname));
const isStranger = (host: string) =>
  !known.has(host) && !/^(?:good|turns|redirects-\d+|stream-\d+)\.example\.com$/.test(host);

const recordOf = async (id: string) => (await portico.api('GET', `${SERVERS}/${id}`)).json;

interface Outcome {
  status: string;
  reason: string;
}

/** Waits for the outcome of a first discovery. */
const settled = (id: string): Promise<Outcome> =>
  until(`the outcome of ${id}`, 60_000, async () => {
    const { status, last_error: reason } = await recordOf(id);
    return status === 'CONNECTING' ? undefined : { status: String(status), reason: String(reason) };
  });

/** Runs `work` on each item, a few at a time. */
async function eachOf<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>) {
  const waiting = [...items.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}

describe(`[SEC-3] ${corpus.origin}`, () => {
  it('is refused when an administrator enters it, and nothing is fetched', async () => {
    const id = await register('edited', 'https://edited.example.com/mcp', { auto_connect: false });
    const before = left.length;
    const good = 'https://good.example.com/mcp';
    for (const url of forbidden) {
      const answers = [
        await portico.api('POST', SERVERS, config('x', url)),
        await portico.api('POST', SERVERS, config('x', good, { health_check_url: url })),
        await portico.api('PATCH', `${SERVERS}/${id}`, { connection_config: { url } }),
        await portico.api('PATCH', `${SERVERS}/${id}`, { health_check_url: url }),
      ];
      expect([url, ...answers.map(({ status }) => status)]).toEqual([url, 422, 422, 422, 422]);
    }
    expect(left.slice(before)).toEqual([]);
    expect(forbidden.length).toBeGreaterThan(5);
  }, 300_000);

  it('is not fetched if it came into the database in another way', async () => {
    const columns = 'transport_type, status, registered_at, updated_at';
    const statement = `INSERT INTO servers (id, name, url, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`;
    const before = left.length;
    // The code that reads the row uses the same address policy, so a part of the corpus is enough.
    const some = forbidden.filter((_, i) => i % 3 === 0);
    await eachOf(some, async (url, i) => {
      const id = `row-${i}`;
      await portico.sql(statement, id, id, url, 'HTTP', 'DISCONNECTED', 0, 0);
      expect((await portico.api('POST', `${SERVERS}/${id}/connect`)).status).toBe(200);
      const { status, reason } = await settled(id);
      expect([url, status]).toEqual([url, 'ERROR']);
      expect(reason).toContain('upstream_refused_address');
      await portico.api('DELETE', `${SERVERS}/${id}`);
    });
    expect(left.slice(before)).toEqual([]);
  }, 300_000);

  it('is fetched if it is allowed', async () => {
    for (const [i, url] of allowed.entries()) {
      const id = await register(`allowed-${i}`, url);
      expect([url, (await settled(id)).status]).toEqual([url, 'CONNECTED']);
      expect(left).toContain(new URL(url).href);
    }
  });
});

describe('[SEC-3] a server', () => {
  it.each([301, 302, 303, 307, 308])('that redirects with %i is not followed', async status => {
    const host = `redirects-${status}.example.com`;
    const location = 'https://elsewhere.example.com/mcp';
    hosts.set(host, () => new Response(null, { status, headers: { location } }));
    const outcome = await settled(await register(`redirects-${status}`, `https://${host}/mcp`));
    expect(outcome.reason).toContain('upstream_redirect');
    expect(left.filter(url => url.includes('elsewhere'))).toEqual([]);
  });

  it('whose calls redirect later is not followed', async () => {
    const id = await register('turns', 'https://turns.example.com/mcp');
    expect((await settled(id)).status).toBe('CONNECTED');
    const location = 'http://169.254.169.254/latest/meta-data/';
    hosts.set('turns.example.com', () => new Response('', { status: 307, headers: { location } }));
    const call = await portico.api('POST', '/api/v1/tools/call', { name: 'turns.echo' });
    expect([call.status, call.json['code']]).toEqual([502, 'upstream_redirect']);
    expect(left.filter(url => new URL(url).hostname === '169.254.169.254')).toEqual([]);
  });

  it('over HTTP+SSE whose stream names an endpoint elsewhere gets no POST there', async () => {
    // The endpoint must have the stream's own origin in any case, so a part of the corpus is enough.
    const some = forbidden.filter((_, i) => i % 4 === 0);
    const elsewhere = [...some, 'https://elsewhere.example.com/messages'];
    await eachOf(elsewhere, async (url, i) => {
      const host = `stream-${i}.example.com`;
      const data = url.replaceAll(/[\r\n]/g, '');
      hosts.set(host, () => {
        const headers = { 'content-type': 'text/event-stream' };
        return new Response(`event: endpoint\ndata: ${data}\n\n`, { headers });
      });
      const transport = { transport_type: 'SSE' };
      const id = await register(`stream-${i}`, `https://${host}/sse`, transport);
      expect([url, (await settled(id)).status]).toEqual([url, 'ERROR']);
      await portico.api('DELETE', `${SERVERS}/${id}`);
    });
    const own = left.filter(url => url.startsWith('https://stream-'));
    expect(own.filter(url => !url.endsWith('.example.com/sse'))).toEqual([]);
    expect(left.map(url => new URL(url).hostname).filter(isStranger)).toEqual([]);
  }, 300_000);
});
