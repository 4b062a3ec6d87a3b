/**
 * Two hundred secrets, each put where a secret belongs: credentials of servers, named secrets, tokens of clients, arguments marked or named
 * as secret; and a server that repeats everything it receives in its errors. None of the secrets comes out anywhere.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCollector, type Collector } from '../../fixtures/otlp-collector.ts';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { startLeaky } from '../support/leaky-upstream.ts';
import type { LeakyUpstream } from '../support/leaky-upstream.ts';
import { open } from '../support/raw-client.ts';
import { create } from '../support/team.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const SERVERS = 10;
const TOOLS = ['quiet', 'status', 'page', 'rpc', 'hang-up'];
const READS = [
  '/api/v1/aggregator/servers?limit=100',
  '/api/v1/aggregator/export',
  '/api/v1/secrets',
  '/api/v1/tokens?limit=100',
  '/api/v1/principals?limit=100',
  '/api/v1/audit?limit=500',
  '/api/v1/tools',
  '/api/v1/webhooks',
  '/metrics',
  '/openapi.json',
];

let data: string;
let gateway: Gateway;
let upstream: LeakyUpstream;
let collector: Collector;
let receiver: WebhookReceiver;
const canaries: string[] = [];
/** Responses to clients and administrators, without those that return a token. */
const answers: string[] = [];

function canary(kind: string): string {
  const value = `canary-${kind}-${canaries.length}-${crypto.randomUUID().slice(0, 8)}`;
  canaries.push(value);
  return value;
}

async function registerLeaky(i: number): Promise<void> {
  const name = `SECRET_${i}`;
  const origins = [upstream.origin];
  const put = await gateway.api('PUT', `/api/v1/secrets/${name}`, {
    value: canary('named'),
    origins,
  });
  answers.push(put.text);
  const headers = {
    authorization: `Bearer ${canary('bearer')}`,
    'x-api-key': canary('header'),
    cookie: `session=${canary('cookie')}`,
    'x-named': `\${${name}}`,
  };
  const body = {
    name: `leaky-${i}`,
    transport_type: 'HTTP',
    connection_config: { url: `${upstream.origin}/mcp?n=${i}`, headers },
  };
  const record = await create(gateway, '/api/v1/aggregator/servers', body);
  answers.push(JSON.stringify(record));
  await gateway.waitFor(String(record['id']), 'CONNECTED');
}

/** Starts a receiver of events; its address and its secret are two more canaries. */
async function startReceiver(): Promise<WebhookReceiver> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/${canary('address')}`;
  const given = { name: 'watch', url, denials_over: 1 };
  const { status, json, text } = await gateway.api('POST', '/api/v1/webhooks', given);
  if (status !== 201) throw new Error(text);
  const { secret } = json as { secret: string };
  canaries.push(secret);
  return startWebhookReceiver(port, secret);
}

const secretArguments = () => ({
  password: canary('password'),
  pin: canary('pin'),
  note: 'nothing secret',
  nested: { api_key: canary('nested') },
});

/** Calls every tool of one server in both eras and over REST, with secrets among the arguments; and one tool that does not exist. */
async function callAll(i: number): Promise<void> {
  const { token } = await gateway.createToken({ name: `client-${i}` });
  canaries.push(token.slice('portico_'.length));
  for (const tool of TOOLS) {
    const given = secretArguments();
    const name = `leaky-${i}.${tool}`;
    for (const era of ['legacy', 'modern'] as const) {
      const client = await open(era, { url: `${gateway.origin}/mcp`, token });
      const { headers, text } = await client.call(name, given);
      answers.push(text + JSON.stringify([...headers]));
    }
    const body = { name, arguments: given };
    const { headers, text } = await gateway.api('POST', '/api/v1/tools/call', body, token);
    answers.push(text + JSON.stringify([...headers]));
  }
  const none = { name: `leaky-${i}.none`, arguments: { password: 'canary-to-nobody' } };
  for (let n = 0; n < 2; n += 1) {
    answers.push((await gateway.api('POST', '/api/v1/tools/call', none, token)).text);
  }
}

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-e2e-canaries-'));
  collector = await startCollector();
  [gateway, upstream] = await Promise.all([
    startGateway({
      data,
      env: {
        PORTICO_CIRCUIT_FAILURES: '1000000',
        PORTICO_DEGRADED_ERROR_RATE: '1',
        PORTICO_OTLP_URL: collector.origin,
        PORTICO_TRACE_RATIO: '1',
      },
    }),
    startLeaky(),
  ]);
  receiver = await startReceiver();
  for (let i = 0; i < SERVERS; i += 1) {
    await registerLeaky(i);
    await callAll(i);
  }
}, 300_000);

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([upstream?.close(), collector?.stop(), receiver?.stop()]);
  await rm(data, { recursive: true, force: true });
});

/** Finds the canaries in a text: plain, in Base64 or URL-encoded. */
const found = (text: string) =>
  canaries.filter(value => {
    const base64 = Buffer.from(value).toString('base64').replace(/=+$/u, '').slice(0, -2);
    return text.includes(value) || text.includes(base64);
  });

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
}

describe('a secret', { timeout: 300_000 }, () => {
  it('[SEC-2] [SEC-1] reached the servers that it was for', () => {
    expect(canaries.length).toBeGreaterThanOrEqual(200);
    const all = upstream.received.join('\n');
    const wanted = canaries.filter(value => /^canary-(?!address)/.test(value));
    expect(wanted.filter(value => !all.includes(value))).toEqual([]);
  });

  it('[SEC-2] [SEC-6] [SEC-8] is in no response, list, record, audit row or metric', async () => {
    expect(answers.flatMap(found)).toEqual([]);
    const row = await until('calls are in the audit or the acts are', 60_000, async () => {
      const { text } = await gateway.api('GET', '/api/v1/audit?limit=500');
      return text.includes('server.create') ? text : undefined;
    });
    expect(found(row)).toEqual([]);
    for (const path of READS) {
      const { status, text, headers } = await gateway.api('GET', path);
      expect([path, status]).toEqual([path, 200]);
      expect([path, found(text + JSON.stringify([...headers]))]).toEqual([path, []]);
    }
  });

  it('[SEC-2] [OPS-7] is in no span, and each call has a span', async () => {
    const spans = await until('the last calls are at the collector', 60_000, async () => {
      const text = JSON.stringify(collector.received.map(({ body }) => body));
      const calls = text.split('"name":"tools/call hang-up","kind":3').length - 1;
      return calls >= SERVERS * 3 ? text : undefined;
    });
    expect(found(spans)).toEqual([]);
  });

  it('[SEC-2] [OPS-7] is in no row of usage and in no event', async () => {
    const path = '/api/v1/usage?by=day,principal,token,server,tool&limit=500';
    const usage = await until('all calls are added up', 60_000, async () => {
      const { text, json } = await gateway.api('GET', path);
      const rows = (json as { usage: { calls: number }[] }).usage;
      const calls = rows.reduce((sum, row) => sum + row.calls, 0);
      return calls === SERVERS * (TOOLS.length * 3 + 2) ? text : undefined;
    });
    expect(usage).toContain('leaky-0.quiet');
    const { text: table } = await gateway.api('GET', '/api/v1/usage/export?by=principal,tool');
    expect(table).toContain('leaky-0.quiet');
    const events = await until('somebody was denied too much', 60_000, async () => {
      const isTold = receiver.taken.some(({ body }) => body.type === 'denials.rate');
      return isTold ? receiver.taken.map(({ text }) => text).join('\n') : undefined;
    });
    expect(found(usage + table + events)).toEqual([]);
    expect(`${usage}${table}${events}`).not.toContain('canary-to-nobody');
  });

  it('[SEC-2] [SEC-1] is in no line of the log and in no byte of the storage', async () => {
    // The files of an open database change.
    await gateway.stop();
    expect(found(gateway.output())).toEqual([]);
    const leaks: string[] = [];
    for (const file of await filesOf(data)) {
      leaks.push(
        ...found((await readFile(file)).toString('latin1')).map(value => `${file} ${value}`),
      );
    }
    expect(leaks).toEqual([]);
  });
});
