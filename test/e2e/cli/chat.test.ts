/**
 * `portico chat` against a real gateway and a scripted model: what it prints for people and for programs, how it asks, ends and continues.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChatView } from '../../../src/agents/chat/chat-events.ts';
import { until, type Upstream } from '../../fixtures/start-fixture.ts';
import { addDemo, OPENAI, startChats, type ChatGateway } from '../support/chat-gateway.ts';
import {
  COMPILE_CACHE,
  MAIN,
  runPortico,
  type Ran,
  type RunOptions,
} from '../support/portico-command.ts';

let chats: ChatGateway;
let upstreams: Record<string, Upstream>;

beforeAll(async () => {
  chats = await startChats(OPENAI, { env: { PORTICO_CHAT_APPROVAL: 'writes' } });
  upstreams = await addDemo(chats, ['tickets']);
});
afterAll(async () => {
  await chats?.stop();
  await Promise.all(Object.values(upstreams ?? {}).map(upstream => upstream.stop()));
});

const environment = (token = chats.gateway.adminToken) => ({
  PORTICO_URL: chats.gateway.origin,
  PORTICO_TOKEN: token,
});
const portico = (args: string[], options: RunOptions = {}): Promise<Ran> =>
  runPortico(['chat', ...args], { env: environment(), ...options });

const search = { name: 'tickets__search_tickets', arguments: { query: 'vpn' } };
const close = { name: 'tickets__close_ticket', arguments: { number: 'INC-1002' } };
const closed = async () => (await upstreams['tickets']?.counters())?.['close_ticket'] ?? 0;
const idIn = (text: string) => /--resume ([0-9a-f-]{36})/.exec(text)?.[1] ?? '';

it('[CLI-4] [LLM-3] prints answers on standard output, and calls on standard error', async () => {
  await chats.script({ turns: [{ text: 'I look.', calls: [search] }, { text: 'INC-1002 ü.' }] });
  const { code, out, err } = await portico(['which ticket is about the VPN?']);
  expect({ code, out }).toEqual({ code: 0, out: 'I look.\nINC-1002 ü.\n' });
  const lines = err.trimEnd().split('\n');
  expect(lines).toEqual([
    '→ tickets.search_tickets {"query":"vpn"}',
    expect.stringMatching(/^← tickets\.search_tickets .*INC-1002/),
  ]);
});

it('[CLI-4] [LLM-3] takes the message from standard input, and prints JSON for programs', async () => {
  await chats.script({ turns: [{ calls: [search] }, { text: 'INC-1002.' }] });
  const ran = await portico(['--json', '--max-steps', '3'], { input: 'which one?\n' });
  expect(ran.code).toBe(0);
  expect(ran.json<ChatView>()).toMatchObject({
    answer: 'INC-1002.',
    stop_reason: 'answered',
    calls: [{ name: 'tickets.search_tickets' }],
  });
  expect(JSON.stringify(await chats.requests())).toContain('which one?');
});

it('[CLI-4] [LLM-3] a call waits if nobody can be asked, and is approved or refused later', async () => {
  await chats.script({ turns: [{ calls: [close] }, { text: 'Closed.' }] });
  const before = await closed();
  const first = await portico(['close it']);
  expect(first).toMatchObject({ code: 1, out: '' });
  expect(first.err).toContain('portico: calls wait for a decision');
  expect((await closed()) - before).toBe(0);
  const again = await portico(['--resume', idIn(first.err)], { input: '' });
  expect(again.code).toBe(1);
  const done = await portico(['--resume', idIn(first.err), '--yes'], { input: '' });
  expect(done).toMatchObject({ code: 0, out: 'Closed.\n' });
  expect((await closed()) - before).toBe(1);
  await chats.script({ turns: [{ calls: [close] }, { text: 'Left open.' }] });
  expect(await portico(['close it', '--no'])).toMatchObject({ code: 0, out: 'Left open.\n' });
  expect((await closed()) - before).toBe(1);
});

it('[CLI-4] [LLM-3] reports which calls of a truncated answer were not made, and asks the model again', async () => {
  const cut = { calls: [{ name: 'tickets__close_ticket', raw: '' }], stop: 'length' as const };
  await chats.script({ turns: [cut, { text: 'Never mind.' }] });
  const before = await closed();
  const first = await portico(['close it', '--yes']);
  expect(first).toMatchObject({ code: 1, out: '' });
  expect(first.err).toContain('✗ tickets.close_ticket was not called');
  expect(first.err).toContain('portico: the answer was cut off');
  const again = await portico(['--resume', idIn(first.err)], { input: '' });
  expect(again).toMatchObject({ code: 0, out: 'Never mind.\n' });
  expect((await closed()) - before).toBe(0);
});

it('[CLI-4] [LLM-3] ends with the reason of the stop, and how to continue', async () => {
  await chats.script({ turns: [{ text: 'Again.', calls: [search] }], repeat: 'last' });
  const { code, err } = await portico(['look for ever', '--max-steps', '2']);
  expect(code).toBe(1);
  expect(err).toContain('the maximum number of model requests is reached');
  await chats.script({ turns: [{ text: 'Enough.' }] });
  const ran = await portico(['--resume', idIn(err), 'enough']);
  expect(ran).toMatchObject({ code: 0, out: 'Enough.\n' });
});

it('[CLI-4] [LLM-3] Ctrl-C stops the run at the gateway, and the command says how to continue', async () => {
  const turns = [{ calls: [search] }, { text: 'I think.', delayMs: 60_000 }, { text: 'Thought.' }];
  await chats.script({ turns });
  const child = spawn(process.execPath, [MAIN, 'chat', 'think'], {
    env: { PATH: process.env['PATH'], ...COMPILE_CACHE, ...environment() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', chunk => (err += String(chunk)));
  await until('it thinks', 30_000, async () =>
    err.includes('←') && (await chats.requests()).length === 2 ? true : undefined,
  );
  const closedAt = once(child, 'close');
  child.kill('SIGINT');
  expect(await closedAt).toEqual([130, null]);
  expect(err).toContain('portico: stopped');
  const ran = await until('it is stopped', 30_000, async () => {
    const resumed = await portico(['--resume', idIn(err)], { input: '' });
    return resumed.code === 0 ? resumed : undefined;
  });
  expect(ran.out).toBe('Thought.\n');
});

it('[CLI-4] [LLM-3] reports errors in one line', async () => {
  const wrong: [args: string[], code: number, line: string][] = [
    [['x', '--max-steps', 'many'], 2, 'portico: --max-steps must be a whole number of at least 1'],
    [
      ['x', '--max-cost', 'all'],
      2,
      'portico: --max-cost must be a number of US dollars, like 0.25',
    ],
    [['x', '--ask', 'often'], 2, 'portico: --ask must be writes, always, never'],
    [['x', '--yes', '--no'], 2, 'portico: --yes and --no exclude each other'],
    [['x', '--max-steps', '99'], 2, 'portico: limits.steps: may be up to 16 here'],
    [['x', '--ask', 'never'], 2, 'portico: approve: may be writes or always here'],
    [['x', '--resume', crypto.randomUUID()], 4, 'portico: No such chat'],
    [[], 2, 'portico: there is no message; give one, or see --help'],
  ];
  for (const [args, code, line] of wrong) {
    expect([args, await portico(args)]).toMatchObject([args, { code, out: '', err: `${line}\n` }]);
  }
  const body = { name: 'reader', scopes: ['tools:read'] };
  const { token } = await chats.gateway.createToken(body);
  const denied = await portico(['x'], { env: environment(token) });
  expect(denied).toMatchObject({ code: 3, err: expect.stringContaining('tools:call') });
});
