/**
 * The report on an integration system: its streams, line by line (`test/source-documents/integration-streams.ts`), at a gateway whose calls
 * time out after two and a half seconds.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { STREAM_LINES, type StreamLine } from '../../source-documents/integration-streams.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { callOver, LOG, startFiles, storeKey } from '../support/integration-stand.ts';
import { openLegacy, type Answer } from '../support/raw-client.ts';
import { startScripted } from '../support/scripted-upstream.ts';

const SOON_MS = 60_000;
const PAGE = 'https://app.example.com';
const LOG_BYTES = 16_777_216;

let folder: string;
let gateway: Gateway;
let files: Awaited<ReturnType<typeof startFiles>>;
/** A call that streams for longer than a call may be silent: its events, and when each arrived. */
let flowing: { text: string; times: number[] };
/** A call of an MCP client without any output. */
let silent: Answer;
/** How long that call took. */
let seconds: number;

/** Reads a stream to its end. @returns its text, and when its pieces arrived, in milliseconds */
async function watch(body: object): Promise<typeof flowing> {
  const from = performance.now();
  const response = await fetch(`${gateway.origin}/api/v1/tools/call`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminToken}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify(body),
  });
  const times: number[] = [];
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of response.body ?? []) {
    times.push(performance.now() - from);
    text += decoder.decode(piece as Uint8Array, { stream: true });
  }
  return { text, times };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-streams-'));
  const data = join(folder, 'data');
  await writeFile(join(folder, 'error.log'), LOG);
  const env = {
    PORTICO_CALL_TIMEOUT_MS: '2500',
    PORTICO_HEALTH_INTERVAL_MS: '1000',
    PORTICO_ALLOWED_ORIGINS: PAGE,
  };
  // The log of an earlier start, at its largest allowed size.
  await mkdir(data);
  await writeFile(join(data, 'requests.ndjson'), Buffer.alloc(LOG_BYTES, ' '));
  gateway = await startGateway({ data, env });
  files = await startFiles(folder);
  await storeKey(gateway, files.desktop.origin);
  const { headers, desktop } = files;
  await gateway.register('files', `${desktop.origin}/mcp`, { headers });
  const client = await openLegacy({ url: `${gateway.origin}/mcp`, token: gateway.adminToken });
  const from = performance.now();
  const toSeconds = (answer: Answer) => {
    seconds = (performance.now() - from) / 1_000;
    return answer;
  };
  [flowing, silent] = await Promise.all([
    watch({ name: 'files.flowing' }),
    client.call('files__hang').then(toSeconds),
  ]);
}, 240_000);
afterAll(async () => {
  await gateway?.stop();
  await files?.desktop.stop();
  await rm(folder, { recursive: true, force: true });
});

const call = (tool: string, args: object = {}) => callOver(gateway, tool, args);
const came = () => files.desktop.came;
const preflight = (origin: string) =>
  fetch(`${gateway.origin}/api/v1/tools`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET' },
  }).then(({ headers }) => headers.get('access-control-allow-origin'));

const shows: Record<StreamLine, () => void | Promise<void>> = {
  I20() {
    expect(silent.text).toContain('upstream_timeout');
    expect(seconds).toBeGreaterThan(2.4);
    expect(seconds).toBeLessThan(15);
  },
  async I65() {
    const before = came().length;
    expect(await call('resumed')).toMatchObject({ status: 200, text: 'went on' });
    const about = came().slice(before);
    const posts = about.filter(({ message }) => message.params?.name === 'resumed');
    const events = about.map(({ headers }) => headers['last-event-id']).filter(Boolean);
    expect(posts).toHaveLength(1);
    expect(events).toEqual([`of-${posts[0]?.message.id}`]);
  },
  I66() {
    expect(flowing.text).toContain('flowed');
    expect(flowing.times.at(-1)).toBeGreaterThan(3_000);
  },
  I67() {
    expect(flowing.text.match(/^event: progress$/gmu)).toHaveLength(8);
    const [first = 0, last = 0] = [flowing.times[0], flowing.times.at(-1)];
    expect(last - first).toBeGreaterThan(2_000);
  },
  I68() {
    expect(silent.text).toMatch(/^: .*\n\n/u);
    expect(silent.messages).toEqual([expect.stringContaining('upstream_timeout')]);
    expect(silent.headers.get('x-accel-buffering')).toBe('no');
  },
  I69: async () =>
    expect(await call('complete')).toMatchObject({ status: 502, code: 'upstream_bad_message' }),
  I70: async () =>
    expect(await call('bare')).toMatchObject({ status: 502, code: 'upstream_bad_message' }),
  I71: async () =>
    expect(await call('output')).toMatchObject({ status: 502, code: 'upstream_no_response' }),
  async I72() {
    await call('read_file', { path: 'error.log' });
    const methods = new Set(came().map(({ message }) => message.method));
    expect(methods).toContain('tools/call');
    expect(methods).not.toContain('read_file');
  },
  async I73() {
    await call('read_file', { path: 'error.log' });
    expect(await call('read_file', { path: 'error.log' })).toMatchObject({ text: LOG });
    expect(came().filter(({ headers }) => headers.cookie !== undefined)).toEqual([]);
  },
  async I74() {
    const bare = await startScripted('legacy', {}, () => ({ body: '' }));
    expect(await gateway.register('bare', bare.url)).toMatchObject({ tool_count: 0 });
    await bare.close();
  },
  async I75() {
    expect(await preflight(PAGE)).toBe(PAGE);
    expect(await preflight('https://elsewhere.example.com')).toBeNull();
  },
  async I76() {
    const file = join(folder, 'data', 'requests.ndjson');
    await until('it is begun anew', SOON_MS, async () => existsSync(`${file}.1`) || undefined);
    expect(statSync(`${file}.1`).size).toBe(LOG_BYTES);
    expect(readFileSync(file, 'utf8')).toMatch(/^\{/u);
  },
  async I89() {
    const count = (text: string, what: string) =>
      Number(
        text.match(
          new RegExp(`^portico_server_${what}_total\\{server="files"\\} (\\d+)`, 'mu'),
        )?.[1],
      );
    const [calls, errors] = await until('calls and failures are counted', SOON_MS, async () => {
      const { text } = await gateway.api('GET', '/metrics');
      const counts = [count(text, 'calls'), count(text, 'call_errors')] as const;
      return counts.every(each => each > 0) ? counts : undefined;
    });
    expect(calls).toBeGreaterThan(errors);
  },
};

it.each(STREAM_LINES.map(({ id, says }) => [id, says] as const))(
  '[LLM-2] [OPS-7] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
