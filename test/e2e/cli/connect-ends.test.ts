/**
 * How `portico connect` ends: on a message of the gateway, on a signal, or before it has started. It leaves no program behind that it
 * started.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { callTool, textOf } from '../support/connect-calls.ts';
import { ConnectStand, type ConnectProcess } from '../support/connect-process.ts';
import { ORDINARY_TOKEN, startConnectorGateway } from '../support/connector-gateway.ts';
import type { ConnectorGateway } from '../support/connector-gateway.ts';
import type { Link } from '../support/connector-link.ts';

const WAIT_MS = 60_000;
const ADMIN = 'portico_admin-of-this-test';

let gateway: ConnectorGateway;
let stand: ConnectStand;

beforeEach(async () => {
  gateway = await startConnectorGateway();
  stand = await ConnectStand.create();
  stand.write('mcp.json', { mcpServers: { tools: stand.tools('tools') } });
});

afterEach(async () => {
  await stand.remove();
  await gateway.close();
});

const start = (...args: string[]): ConnectProcess =>
  stand.start(['--url', gateway.origin, ...args], { PORTICO_CONNECTOR_TOKEN: ORDINARY_TOKEN });

async function connect(...args: string[]): Promise<[Link, ConnectProcess]> {
  const opened = gateway.nextLink();
  const connecting = start(...args);
  return [await opened, connecting];
}

/** Whether a process with this id exists. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns the ids of the living processes of a group, without zombies. */
function livingOf(group: number): string[] {
  return readdirSync('/proc').filter(name => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state = '', , itsGroup] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return Number(itsGroup) === group && !/[ZX]/.test(state);
    } catch {
      return false;
    }
  });
}

/** Waits until the server has started; returns a function that waits until it is gone. */
async function watchServer(): Promise<() => Promise<boolean>> {
  const findPid = async () => stand.log('tools').find(line => line.startsWith('started '));
  const pid = Number((await until('the server starts', WAIT_MS, findPid)).split(' ')[1]);
  return () => until('the server is gone', WAIT_MS, async () => !isThere(pid) || undefined);
}

it.each([
  [4401, 3, 'enrol this machine again with `portico connect --enroll NAME --replace`'],
  [4409, 1, 'another `portico connect` with this token took over'],
])('[CLI-1] close code %i ends it with one line', async (code, exitCode, text) => {
  const [link, connecting] = await connect('--quiet');
  const isGone = await watchServer();
  link.close(code);
  await expect(connecting.ended).resolves.toBe(exitCode);
  expect(connecting.output().trimEnd().split('\n')).toEqual([expect.stringContaining(text)]);
  await isGone();
  expect(gateway.links).toHaveLength(1);
});

it.each([
  ['revoked', 3],
  ['replaced', 1],
  ['version', 1],
] as const)('[CLI-1] `bye` %s ends it', async (reason, exitCode) => {
  const [link, connecting] = await connect();
  link.sendBye(reason);
  await expect(connecting.ended).resolves.toBe(exitCode);
  expect(gateway.links).toHaveLength(1);
});

it('[CLI-1] a token that the gateway does not know ends it before it dials', async () => {
  const env = { PORTICO_CONNECTOR_TOKEN: `portico_device_${'A'.repeat(43)}` };
  const connecting = stand.start(['--url', gateway.origin], env);
  await expect(connecting.ended).resolves.toBe(3);
  expect(connecting.output()).toContain('does not know this device token');
  expect(gateway.links).toEqual([]);
});

it('[CLI-1] ends at once at an address that is no gateway', async () => {
  gateway.refuseWith = 404;
  const connecting = start();
  await expect(connecting.ended).resolves.toBe(1);
  expect(connecting.output()).toContain('is not a gateway that supports connectors');
});

it('[CLI-1] on a signal, lets running calls end, takes no new ones, and leaves no program', async () => {
  const [link, connecting] = await connect();
  const isGone = await watchServer();
  const held = callTool(link, 'tools', 'hold', { text: 'late' });
  await stand.logs('tools', 'hold late');
  connecting.child.kill('SIGTERM');
  await connecting.says('stopping: 1 request running');
  const refused = callTool(link, 'tools', 'echo', { text: 'new' });
  await expect(textOf(refused)).rejects.toMatchObject({ code: 'offline' });
  stand.write('go', '');
  await expect(textOf(held)).resolves.toBe('late');
  await expect(connecting.ended).resolves.toBe(0);
  expect(link.bye).toBe('draining');
  await expect(link.closed).resolves.toBe(1000);
  await isGone();
  expect(stand.log('tools')).not.toContain('echo new');
});

it('[CLI-1] cancels calls that do not end in time after a signal', async () => {
  const [link, connecting] = await connect('--drain', '0.1');
  const waiting = callTool(link, 'tools', 'wait', { text: 'a' });
  await stand.logs('tools', 'wait a');
  connecting.child.kill('SIGINT');
  await expect(textOf(waiting)).rejects.toMatchObject({ code: 'offline' });
  await expect(connecting.ended).resolves.toBe(0);
});

it('[CLI-1] a second signal ends it and its programs at once', async () => {
  const [link, connecting] = await connect('--drain', '3600');
  const isGone = await watchServer();
  callTool(link, 'tools', 'wait', { text: 'a' });
  await stand.logs('tools', 'wait a');
  connecting.child.kill('SIGINT');
  await connecting.says('stopping: 1 request running');
  connecting.child.kill('SIGINT');
  await expect(connecting.ended).resolves.toBe(1);
  await isGone();
});

it('[CLI-1] when it is killed, leaves no program, not even a stubborn one', async () => {
  const pidFile = stand.path('pid');
  const { command, args, env } = stand.tools('tools') as {
    command: string;
    args: string[];
    env: Record<string, string>;
  };
  // Neither the end of its input nor SIGTERM ends the program or what it started.
  const script = `echo $$ > "${pidFile}"; trap '' TERM; "$@"; sleep 600 & wait; wait`;
  const stubborn = { command: '/bin/sh', args: ['-c', script, 'sh', command, ...args], env };
  stand.write('mcp.json', { mcpServers: { tools: stubborn } });
  const [, connecting] = await connect();
  const pid = await until('the program runs', WAIT_MS, async () =>
    existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) || undefined : undefined,
  );
  expect(livingOf(pid)).toContain(String(pid));
  connecting.child.kill('SIGKILL');
  await connecting.ended;
  await until('the group is gone', WAIT_MS, async () => livingOf(pid).length === 0 || undefined);
  expect(livingOf(pid)).toEqual([]);
});

it('[CLI-1] a signal also ends it while there is no gateway', async () => {
  const connecting = stand.start(['--url', 'http://127.0.0.1:1'], {
    PORTICO_CONNECTOR_TOKEN: ORDINARY_TOKEN,
  });
  await connecting.says('cannot be reached');
  connecting.child.kill('SIGTERM');
  await expect(connecting.ended).resolves.toBe(0);
});

it('[CLI-1] enrols a machine once, and finds its token later', async () => {
  const env = { PORTICO_TOKEN: ADMIN, XDG_CONFIG_HOME: stand.path('config') };
  const run = async (args: string[], given: Record<string, string>) => {
    const opened = gateway.nextLink();
    const connecting = stand.start(['--url', gateway.origin, ...args], given);
    await opened;
    connecting.child.kill('SIGTERM');
    await connecting.ended;
    return connecting.output();
  };
  const first = await run(['--enroll', 'desk'], env);
  expect(gateway.enrolments).toEqual([{ name: 'desk', authorization: `Bearer ${ADMIN}` }]);
  const file = stand.path('config/portico/connectors.json');
  expect(first).toContain(`enrolled as desk; the token of this machine is in ${file}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const later = await run([], { XDG_CONFIG_HOME: stand.path('config') });
  gateway.taken.add('desk');
  const again = await run(['--enroll', 'desk'], env);
  for (const output of [first, later, again]) {
    expect(output).not.toContain(ADMIN);
    expect(output).not.toContain(ORDINARY_TOKEN);
  }
  chmodSync(file, 0o644);
  const exposed = stand.start(['--url', gateway.origin], { XDG_CONFIG_HOME: stand.path('config') });
  await expect(exposed.ended).resolves.toBe(1);
  expect(exposed.output()).toContain('run `chmod 600` on it');
});

it('[CLI-1] applies an edit that was made while it started', async () => {
  gateway.onEnrolment = () => {
    stand.write('mcp.json', { mcpServers: { tools: stand.tools('tools'), b: stand.tools('b') } });
  };
  const connecting = stand.start(['--url', gateway.origin, '--enroll', 'desk'], {
    PORTICO_TOKEN: ADMIN,
  });
  const output = await connecting.says('mcp.json was edited:');
  expect(output).toContain('mcp.json was edited: started b');
});

it('[CLI-1] reports what is missing before anything is started', async () => {
  const without = stand.start(['--url', gateway.origin]);
  await expect(without.ended).resolves.toBe(2);
  expect(without.output()).toContain('run `portico connect --enroll NAME` once');
  const entry = stand.tools('tools', { KEY: '${MISSING_KEY}' });
  stand.write('mcp.json', { mcpServers: { tools: entry } });
  const lacking = start();
  await expect(lacking.ended).resolves.toBe(2);
  expect(lacking.output()).toBe(
    'portico: tools needs environment variables that are not set: MISSING_KEY\n',
  );
  expect(stand.log('tools')).toEqual([]);
  expect(gateway.told).toEqual([]);
});

it('[CLI-1] reports a server whose name is taken, and offers the others', async () => {
  stand.write('mcp.json', { mcpServers: { tools: stand.tools('tools'), b: stand.tools('b') } });
  gateway.taken.add('b');
  const [link, connecting] = await connect();
  expect(link.hello?.servers).toEqual(['tools']);
  await connecting.says('b: not registered: another server has this name');
});

it('[CLI-1] ends if no server is accepted, and says what makes room', async () => {
  stand.write('mcp.json', { mcpServers: { b: stand.tools('b') } });
  gateway.taken.add('b');
  const connecting = start();
  await expect(connecting.ended).resolves.toBe(1);
  expect(connecting.output()).toContain(
    'accepted none of the servers: another server has this name; see portico servers; portico servers remove NAME frees a name',
  );
});
