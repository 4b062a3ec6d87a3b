/** `portico connect` as a process, with real servers behind it, against a gateway that speaks the frames and validates them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WINDOW_BYTES } from '../../../src/upstream/connector/frames.ts';
import { until } from '../../fixtures/start-fixture.ts';
import { callTool, textOf } from '../support/connect-calls.ts';
import { ConnectStand } from '../support/connect-process.ts';
import { ORDINARY_TOKEN, startConnectorGateway } from '../support/connector-gateway.ts';
import type { ConnectorGateway } from '../support/connector-gateway.ts';
import type { Link } from '../support/connector-link.ts';

const WAIT_MS = 60_000;

let gateway: ConnectorGateway;
let stand: ConnectStand;

beforeEach(async () => {
  gateway = await startConnectorGateway();
  stand = await ConnectStand.create();
});

afterEach(async () => {
  await stand.remove();
  await gateway.close();
});

const token = { PORTICO_CONNECTOR_TOKEN: ORDINARY_TOKEN };
const until30 = (what: string, isSo: () => boolean) =>
  until(what, WAIT_MS, async () => isSo() || undefined);

/** The command with a server `tools`, connected. */
async function connect(...args: string[]): Promise<[Link, ReturnType<ConnectStand['start']>]> {
  stand.write('mcp.json', { mcpServers: { tools: stand.tools('tools') } });
  const opened = gateway.nextLink();
  const connecting = stand.start(['--url', gateway.origin, ...args], token);
  return [await opened, connecting];
}

it('[CLI-1] announces its servers, dials, and answers for each server', async () => {
  stand.write('mcp.json', {
    mcpServers: {
      'my files': { ...stand.tools('files'), portico: { description: 'Notes' } },
      tools: stand.tools('tools'),
      far: { url: 'https://mcp.example.com/mcp' },
      off: { ...stand.tools('off'), disabled: true },
    },
  });
  const opened = gateway.nextLink();
  const connecting = stand.start(['--url', gateway.origin], token);
  const link = await opened;
  const offered = [
    { name: 'my-files', description: 'Notes' },
    { name: 'tools', description: '' },
  ];
  expect(gateway.told).toEqual([{ servers: offered }]);
  expect(link.hello?.servers).toEqual(['my-files', 'tools']);
  const answers = ['my-files', 'tools'].map(name => callTool(link, name, 'echo', { text: name }));
  for (const answer of answers) await expect(textOf(answer)).resolves.toBe(answer.server);
  expect(stand.log('files')).toContain('echo my-files');
  expect(stand.log('off')).toEqual([]);
  const output = await connecting.says('connected as laptop');
  expect(output).toContain('far: skipped: remote; register it with `portico import`');
  expect(output).toContain('off: skipped: disabled in the file');
});

it('[CLI-1] a response of 10 MB respects the flow control window, and delays nobody else', async () => {
  const [link] = await connect();
  const big = callTool(link, 'tools', 'big', { bytes: 10_000_000 }, { isHeld: true });
  await until30('a window is used up', () => big.exchange.size > WINDOW_BYTES - 65_536);
  const small = callTool(link, 'tools', 'echo', { text: 'meanwhile' });
  await expect(textOf(small)).resolves.toBe('meanwhile');
  expect(big.exchange.size).toBeLessThanOrEqual(WINDOW_BYTES);
  big.exchange.flow();
  await expect(textOf(big)).resolves.toBe('x'.repeat(10_000_000));
});

it('[CLI-1] 500 concurrent requests each get their own response', async () => {
  const [link] = await connect();
  const calls = Array.from({ length: 500 }, (_, index) =>
    callTool(link, 'tools', 'echo', { text: `${index} ${'y'.repeat(index * 20)}` }),
  );
  const texts = await Promise.all(calls.map(textOf));
  texts.forEach((text, index) => expect(text).toBe(`${index} ${'y'.repeat(index * 20)}`));
  expect(stand.log('tools').filter(line => line.startsWith('cancelled'))).toEqual([]);
});

it('[CLI-1] a client that disconnects cancels the call at the server', async () => {
  const [link] = await connect();
  const { exchange } = callTool(link, 'tools', 'wait', { text: 'a' });
  await stand.logs('tools', 'wait a');
  exchange.cancel();
  await stand.logs('tools', 'cancelled a');
  await expect(textOf(callTool(link, 'tools', 'echo', { text: 'b' }))).resolves.toBe('b');
});

it('[CLI-1] refuses unknown servers, and takes requests as large as a gateway may let pass', async () => {
  const [link] = await connect();
  await expect(textOf(callTool(link, 'other', 'echo', { text: 'a' }))).rejects.toMatchObject({
    code: 'unknown_server',
  });
  const large = callTool(link, 'tools', 'echo', { text: 'z'.repeat(8_000_000) });
  await expect(textOf(large)).resolves.toHaveLength(8_000_000);
  expect(stand.log('tools').filter(line => line.startsWith('echo'))).toHaveLength(1);
});

it('[CLI-1] a changed program is reached, also while the gateway refuses the new list', async () => {
  const [link, connecting] = await connect();
  gateway.refuseWith = 503;
  stand.write('mcp.json', { mcpServers: { tools: stand.tools('tools', { MORE: '1' }) } });
  await connecting.says(
    'mcp.json was edited: restarted tools; the gateway was not told (answered 503), the next connection tells it',
  );
  await expect(textOf(callTool(link, 'tools', 'echo', { text: 'new' }))).resolves.toBe('new');
  expect(stand.log('tools').filter(line => line.startsWith('started'))).toHaveLength(2);
  expect(link.news).toContain('tools');
});

it('[CLI-1] reconnects when the connection is cut, and sends nothing twice', async () => {
  const [first, connecting] = await connect();
  const lost = callTool(first, 'tools', 'wait', { text: 'once' });
  await stand.logs('tools', 'wait once');
  const opened = gateway.nextLink();
  first.cut();
  await expect(textOf(lost)).rejects.toMatchObject({ code: 'offline' });
  await stand.logs('tools', 'cancelled once');
  const second = await opened;
  await expect(textOf(callTool(second, 'tools', 'echo', { text: 'again' }))).resolves.toBe('again');
  const calls = stand.log('tools').filter(line => !/^(started|cancelled)/.test(line));
  expect(calls).toEqual(['wait once', 'echo again']);
  expect(stand.log('tools').filter(line => line.startsWith('started'))).toHaveLength(1);
  expect(gateway.told).toHaveLength(2);
  await connecting.says('the connection broke; retrying in');
});

it('[CLI-1] reconnects when the gateway restarts, and connects when the gateway starts later', async () => {
  const [first, connecting] = await connect();
  const { origin } = gateway;
  await gateway.close();
  gateway = await startConnectorGateway(ORDINARY_TOKEN, Number(new URL(origin).port));
  gateway.refuseWith = 404;
  await connecting.says('is not a gateway that supports connectors; retrying in');
  gateway.refuseWith = 503;
  await connecting.says('answered 503; retrying in');
  gateway.refuseWith = undefined;
  const second = await gateway.nextLink();
  expect(second.hello?.servers).toEqual(first.hello?.servers);
  const opened = gateway.nextLink();
  second.sendBye('restarting');
  second.close(1012);
  await expect(textOf(callTool(await opened, 'tools', 'echo', { text: 'a' }))).resolves.toBe('a');
});

it('[CLI-1] gives up a connection whose other end is silent, and dials again', async () => {
  const [, connecting] = await connect('--keepalive', '1');
  // On a busy machine the first connection may already have seemed silent.
  await until30('two pings', () => (gateway.links.at(-1)?.pings ?? 0) >= 2);
  const opened = gateway.nextLink();
  gateway.links.at(-1)?.freeze();
  await expect(textOf(callTool(await opened, 'tools', 'echo', { text: 'a' }))).resolves.toBe('a');
  await connecting.says('the gateway stopped answering; retrying in');
});

it('[CLI-1] reports a server that ended and came back', async () => {
  const [link, connecting] = await connect();
  callTool(link, 'tools', 'die', {}).exchange.answer.catch(() => {});
  await until30('news', () => link.news.includes('tools'));
  await until30('a second start', () => stand.log('tools').filter(isStart).length === 2);
  await expect(textOf(callTool(link, 'tools', 'echo', { text: 'a' }))).resolves.toBe('a');
  await connecting.says('tools: ready');
});

const isStart = (line: string) => line.startsWith('started');
