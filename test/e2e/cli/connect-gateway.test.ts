/** `portico connect` with the real gateway, as users run them: the programs of a machine are servers of the registry. */
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { ConnectStand, type ConnectProcess } from '../support/connect-process.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';

const WAIT_MS = 60_000;

let gateway: Gateway;
let stand: ConnectStand;
let counted = 0;
/** The name of this test's server. */
let name: string;

beforeAll(async () => {
  gateway = await startGateway();
});

beforeEach(async () => {
  stand = await ConnectStand.create();
  counted += 1;
  name = `tools${counted}`;
});

afterEach(() => stand.remove());

afterAll(async () => {
  await gateway.stop();
  // A restarted gateway keeps its data folder.
  await rm(gateway.data, { recursive: true, force: true });
});

interface Connected {
  connecting: ConnectProcess;
  connectorId: string;
  token: string;
}

/** Enrols a machine and starts the command there. */
async function connect(): Promise<Connected> {
  const { status, json } = await gateway.api('POST', '/api/v1/connectors', { name });
  expect(status).toBe(201);
  const { connector, token } = json as { connector: { id: string }; token: string };
  stand.write('mcp.json', { mcpServers: { [name]: stand.tools(name) } });
  const connecting = start(token);
  await isUp();
  return { connecting, connectorId: connector.id, token };
}

const start = (token: string): ConnectProcess =>
  stand.start(['--url', gateway.origin], { PORTICO_CONNECTOR_TOKEN: token });

/** Waits until the server of this test has its tools. */
const isUp = () =>
  until('the tools are listed', WAIT_MS, async () => {
    const { json } = await gateway.api('GET', '/api/v1/tools');
    const servers = json['servers'] as { name: string; tools: object[] }[];
    return servers.find(server => server.name === name)?.tools.length || undefined;
  });

async function call(tool: string, args: Record<string, unknown>) {
  const body = { name: `${name}.${tool}`, arguments: args };
  const { status, json } = await gateway.api('POST', '/api/v1/tools/call', body);
  const content = json['content'] as { text: string }[] | undefined;
  return { status, text: content?.[0]?.text };
}

it('[CLI-1] a program of a machine appears in the registry, and its tools are called', async () => {
  const { connecting, connectorId, token } = await connect();
  await expect(call('echo', { text: 'a' })).resolves.toEqual({ status: 200, text: 'a' });
  const large = 'x'.repeat(5_000_000);
  await expect(call('big', { bytes: 5_000_000 })).resolves.toEqual({ status: 200, text: large });
  const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`);
  const answers = await Promise.all(texts.map(text => call('echo', { text })));
  expect(answers.map(({ text }) => text)).toEqual(texts);
  const { json } = await gateway.api('GET', `/api/v1/connectors/${connectorId}`);
  expect(json).toMatchObject({ name, status: 'CONNECTED' });
  connecting.child.kill('SIGTERM');
  await expect(connecting.ended).resolves.toBe(0);
  await until('the connector is gone', WAIT_MS, async () => {
    const { json: after } = await gateway.api('GET', `/api/v1/connectors/${connectorId}`);
    return after['status'] === 'DISCONNECTED' || undefined;
  });
  expect(gateway.output()).not.toContain(token);
});

it('[CLI-1] a running call is answered when the machine is told to end', async () => {
  const { connecting } = await connect();
  const held = call('hold', { text: 'late' });
  await stand.logs(name, 'hold late');
  connecting.child.kill('SIGTERM');
  await connecting.says('stopping: 1 request running');
  stand.write('go', '');
  await expect(held).resolves.toEqual({ status: 200, text: 'late' });
  await expect(connecting.ended).resolves.toBe(0);
});

it('[CLI-1] a revoked machine is disconnected, and does not come back', async () => {
  const { connecting, connectorId } = await connect();
  const { status } = await gateway.api('DELETE', `/api/v1/connectors/${connectorId}`);
  expect(status).toBe(204);
  await expect(connecting.ended).resolves.toBe(3);
  expect(connecting.output()).toContain('enrol this machine again');
});

it('[CLI-1] a machine whose token was lost takes over its own place, and its servers stay', async () => {
  const { connecting } = await connect();
  const env = { PORTICO_TOKEN: gateway.adminToken };
  const enrol = (...more: string[]) =>
    stand.start(['--url', gateway.origin, '--enroll', name, ...more], env);
  const refused = enrol();
  await expect(refused.ended).resolves.toBe(2);
  expect(refused.output()).toContain(`take it over with --replace`);
  expect(connecting.child.exitCode).toBeNull();
  const replacing = enrol('--replace');
  await expect(connecting.ended).resolves.toBe(3);
  await replacing.says(`enrolled as ${name}`);
  await until('it is called again', WAIT_MS, async () => {
    const { status, text } = await call('echo', { text: 'mine' });
    return (status === 200 && text === 'mine') || undefined;
  });
  // Its token is stored now, so no new one is created.
  replacing.child.kill('SIGTERM');
  await replacing.ended;
  const kept = stand.start(['--url', gateway.origin]);
  await kept.says('connected as');
  const portico = (...args: string[]) =>
    runPortico(args, { env: { ...env, PORTICO_URL: gateway.origin } });
  expect((await portico('connectors')).out).toMatch(new RegExp(`^${name} +CONNECTED`, 'm'));
  expect((await portico('connectors', 'show', name)).out).toMatch(/^status +CONNECTED$/m);
  expect(await portico('connectors', 'remove', name)).toMatchObject({ code: 0 });
  await expect(kept.ended).resolves.toBe(3);
  expect((await portico('connectors', 'remove', name)).code).toBe(4);
});

it('[CLI-1] of two connections with one token the newer stays', async () => {
  const { connecting, token } = await connect();
  const newer = start(token);
  await expect(connecting.ended).resolves.toBe(1);
  expect(connecting.output()).toContain('took over');
  await newer.says('connected as');
  await expect(call('echo', { text: 'b' })).resolves.toEqual({ status: 200, text: 'b' });
  expect(newer.child.exitCode).toBeNull();
});

it('[CLI-1] a machine reconnects to a restarted gateway', async () => {
  const { connecting } = await connect();
  const { port, data, adminToken } = gateway;
  const lost = call('wait', { text: 'lost' }).then(() => 'answered', String);
  await stand.logs(name, 'wait lost');
  await gateway.kill();
  expect(await lost).toContain('fetch failed');
  await stand.logs(name, 'cancelled lost');
  gateway = await startGateway({ port, data, adminToken });
  await until('it is called again', WAIT_MS, async () => {
    const { status, text } = await call('echo', { text: 'again' });
    return (status === 200 && text === 'again') || undefined;
  });
  expect(stand.log(name).filter(line => line === 'wait lost')).toHaveLength(1);
  expect(connecting.child.exitCode).toBeNull();
});
