/** What is recorded of requests with default settings: one line of the log each, and metrics, which agree. */
import { mkdtemp, rm, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEverything, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway, TRUSTED, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';
import { clients } from '../support/sdk-clients.ts';

const CANARY = 'sk-canarycanarycanarycanary';
const SOON_MS = 30_000;

let data: string;
let gateway: Gateway;
let everything: Upstream;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-logs-'));
  everything = await startEverything('streamableHttp');
  gateway = await startGateway({ data, env: QUIET });
  await gateway.register('everything', `${everything.origin}/mcp`, TRUSTED);
  const target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
  for (const era of ['SDK 1.x', 'SDK 2.x pinned to 2026-07-28'] as const) {
    const client = await clients[era](target);
    await client.listTools();
    await client.callTool('everything.echo', { message: CANARY });
    await client.callTool('everything.get-sum', { a: 'no number', b: 2 });
    await client.callTool('everything.unknown-to-all').catch(() => {});
    await client.close();
  }
});
afterAll(async () => {
  await gateway?.stop();
  await everything?.stop();
  await rm(data, { recursive: true, force: true });
});

type Line = Record<string, unknown>;

async function calls(): Promise<Line[]> {
  const text = await readFile(join(data, 'requests.ndjson'), 'utf8');
  const lines = text.split('\n').filter(line => line !== '');
  return lines
    .map(line => JSON.parse(line) as Line)
    .filter(({ method }) => method === 'tools/call');
}

it('[OPS-7] each call has one line, with how it ended, and nothing of its content', async () => {
  const found = await until('the lines are there', SOON_MS, async () => {
    const lines = await calls();
    return lines.length >= 6 ? lines : undefined;
  });
  expect(found.map(({ era, tool, outcome, code }) => [era, tool, outcome, code])).toEqual(
    ['legacy', 'modern'].flatMap(era => [
      [era, 'echo', 'ok', undefined],
      [era, 'get-sum', 'tool_error', undefined],
      [era, undefined, 'denied', 'tool_not_found'],
    ]),
  );
  const text = await readFile(join(data, 'requests.ndjson'), 'utf8');
  expect(text).not.toMatch(new RegExp(`${CANARY}|unknown-to-all|${gateway.adminToken}`));
});

it('[OPS-7] `portico logs` shows them', async () => {
  const args = ['logs', '--data', data, '--level', 'warn', '-n', '2'];
  const { out, code } = await runPortico(args, {});
  expect(code).toBe(0);
  expect(out).toMatch(/tools\/call {2}everything\.get-sum {2}tool_error {2}\d+ ms \(\d+ ms at/);
  expect(out).toMatch(/tools\/call {2}denied tool_not_found {2}\d+ ms\n$/);
  expect(out.trimEnd().split('\n')).toHaveLength(2);
});

it('[OPS-2] [OPS-7] metrics count the same', async () => {
  const { text } = await gateway.api('GET', '/metrics');
  const of = (era: string, tool: string, outcome: string, server = 'everything') =>
    `portico_requests_total{server="${server}",tool="${tool}",method="tools/call",era="${era}",outcome="${outcome}"} 1\n`;
  for (const era of ['legacy', 'modern']) {
    expect(text).toContain(of(era, 'echo', 'ok'));
    expect(text).toContain(of(era, 'get-sum', 'tool_error'));
    expect(text).toContain(of(era, '', 'denied', ''));
  }
  expect(text).toContain('portico_upstream_duration_seconds_count{server="everything"} 4\n');
  expect(text).toContain('portico_denials_total{code="tool_not_found"} 2\n');
  expect(text).not.toMatch(/unknown-to-all/);
});
