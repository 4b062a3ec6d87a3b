/**
 * Heavy load through a gateway, `portico connect` and the programs of its machine: nothing is mixed up, lost or sent twice, a sick or slow
 * program delays nobody else, and the memory of the command is limited.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { connectPrograms, fixtureProgram, type Connected } from '../support/connected.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import {
  headersFor,
  LEGACY_VERSION,
  modernHeaders,
  open,
  requestBody,
  textOf,
} from '../support/raw-client.ts';
import type { RawClient, Target } from '../support/raw-client.ts';

const ERAS = ['legacy', 'modern'] as const;
/** Each has 25 bytes of JSON or more, so that frames split it anywhere; a big response repeats one to 10 MB. */
const UNITS = ['päckchen 😀 "7"\\\n', 'package  :-)  "7"\\\n'] as const;
const BIG_TIMES = 400_000;
const MOST_RSS_BYTES = 512 * 1_048_576;

let gateway: Gateway;
let connected: Connected;
let folder: string;
let target: Target;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-load-'));
  // A busy machine must not look like a broken program.
  gateway = await startGateway({
    env: { PORTICO_CALL_TIMEOUT_MS: '120000', PORTICO_CIRCUIT_FAILURES: '1000' },
  });
  connected = await connectPrograms(gateway, 'laptop', {
    legacy: fixtureProgram('odd-stdio.ts'),
    modern: { ...fixtureProgram('stdio-tools.ts'), env: { LOG: join(folder, 'modern.log') } },
    calm: { ...fixtureProgram('stdio-tools.ts'), env: { LOG: join(folder, 'calm.log') } },
    sick: fixtureProgram('odd-stdio.ts'),
  });
  target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
});

afterAll(async () => {
  await connected?.end('SIGTERM');
  await gateway?.stop();
  await rm(folder, { recursive: true });
});

/** Returns the peak memory of the command, in bytes. */
async function peakRss(): Promise<number> {
  const status = await readFile(`/proc/${connected.child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

/** Calls a tool and leaves the response unread. */
function begin(client: RawClient, name: string, given: object, id = 1, signal?: AbortSignal) {
  const params = JSON.stringify({ name, arguments: given });
  const session = { 'mcp-session-id': client.sessionId ?? null };
  const own =
    client.era === 'modern'
      ? modernHeaders('tools/call', name)
      : { 'mcp-protocol-version': LEGACY_VERSION, ...session };
  return fetch(target.url, {
    method: 'POST',
    headers: headersFor(target, own),
    body: requestBody(client.era, 'tools/call', params, id),
    ...(signal ? { signal } : {}),
  });
}

/** Calls `calm` again and again while `work` runs; each call must be answered. @returns how many calls were made */
async function callWhile(work: Promise<unknown>): Promise<number> {
  const state = { isOver: false };
  void work.finally(() => (state.isOver = true)).catch(() => {});
  const clients = await Promise.all(ERAS.map(era => open(era, target)));
  let count = 0;
  do {
    for (const client of clients) {
      count += 1;
      expect(textOf(await client.call('calm.echo', { text: `calm ${count}` }))).toBe(
        `calm ${count}`,
      );
    }
  } while (!state.isOver);
  return count;
}

const CLIENTS = 10;
const CALLS = 50;

it('[CLI-1] [MCP-12] answers 500 parallel calls with equal ids over one connector, each correctly and once', async () => {
  const clients: RawClient[] = [];
  for (let index = 0; index < CLIENTS; index++) {
    const client = await open(ERAS[index % 2] ?? 'modern', target);
    // Opens the client's session at the program.
    await client.call('legacy.echo', { text: 'first' });
    clients.push(client);
  }
  const calls = clients.flatMap((client, index) =>
    Array.from({ length: CALLS }, async (_, id) => {
      const program = ERAS[id % 2] ?? 'modern';
      const text = `client ${index} call ${id}`;
      const answer = await client.call(`${program}.echo`, { text }, id);
      const given = program === 'legacy' ? JSON.stringify({ text }) : text;
      return {
        id: answer.message.id === id,
        text: textOf(answer) === given,
        status: answer.status,
      };
    }),
  );
  const answers = await Promise.all(calls);
  expect(answers).toHaveLength(CLIENTS * CALLS);
  expect(answers.filter(({ id, text, status }) => !id || !text || status !== 200)).toEqual([]);
  const log = (await readFile(join(folder, 'modern.log'), 'utf8')).split('\n');
  const executed = log.filter(line => line.startsWith('echo client'));
  expect(new Set(executed).size).toBe(executed.length);
  expect(executed.length).toBe((CLIENTS * CALLS) / 2);
});

/** The repeated unit of a client's big response, different for every client. */
const unitOf = (index: number): string => `${index} ${UNITS[index % 4 === 0 ? 0 : 1]}`;

it('[CLI-1] [MCP-12] [SEC-4] delivers eight responses of 10 MB whole to slow readers, beside quick calls and in little memory', async () => {
  const clients = await Promise.all(
    Array.from({ length: 8 }, (_, index) => open(ERAS[index % 2] ?? 'modern', target)),
  );
  const begun = Promise.all(
    clients.map((client, index) =>
      begin(client, `${index < 4 ? 'legacy' : 'modern'}.big`, {
        text: unitOf(index),
        times: BIG_TIMES,
      }),
    ),
  );
  expect(await callWhile(begun)).toBeGreaterThan(0);
  const responses = await begun;
  // All responses have begun, and none of them is read.
  await callWhile(Promise.resolve());
  for (const [index, response] of responses.entries()) {
    const body = await response.text();
    const text = unitOf(index).repeat(BIG_TIMES);
    const content = JSON.stringify([{ type: 'text', text }]);
    expect(Buffer.byteLength(content)).toBeGreaterThan(10_000_000);
    // Compared here, to keep a difference of 10 MB out of the output.
    expect(body.includes(`"content":${content}`), `answer ${index}`).toBe(true);
  }
  expect(await peakRss()).toBeLessThan(MOST_RSS_BYTES);
});

/** Waits until the sick program serves again, whatever it did before. */
const sickServes = (client: RawClient) =>
  until('it serves', 60_000, async () =>
    // A number is its own answer; while it restarts, the result is the gateway's error.
    /^\d+$/.test(textOf(await client.call('sick.pid'))) ? true : undefined,
  );

it.each([
  ['floods its output', 'flood', /wrote too much/],
  // Its answers to other calls may end that line.
  ['writes a line without an end', 'long-line', /wrote a line longer than|wrote too much/],
  ['writes garbage', 'garbage', /after the garbage/],
])('[CLI-1] [MCP-12] [SEC-4] a program that %s harms no other', async (_what, tool, said) => {
  const client = await open('modern', target);
  await sickServes(client);
  const answered = client.call(`sick.${tool}`);
  await callWhile(answered);
  expect((await answered).text).toMatch(said);
  expect(await peakRss()).toBeLessThan(MOST_RSS_BYTES);
});

it('[CLI-1] [MCP-12] a program that never answers harms no other, and is sent the cancellation', async () => {
  const client = await open('modern', target);
  await sickServes(client);
  const heard = async () => textOf(await client.call('sick.cancelled')).split(' ');
  const gone = new AbortController();
  const hanging = Array.from({ length: 20 }, (_, id) =>
    begin(client, 'sick.hang', {}, id, gone.signal)
      .then(response => response.text())
      .catch(() => 'given up'),
  );
  for (let round = 0; round < 10; round++) await callWhile(Promise.resolve());
  await until('all have come', 60_000, async () => {
    return textOf(await client.call('sick.hung')) === '20' || undefined;
  });
  gone.abort();
  expect(new Set(await Promise.all(hanging))).toEqual(new Set(['given up']));
  await until('it heard of all', 60_000, async () => (await heard()).length === 20 || undefined);
});
