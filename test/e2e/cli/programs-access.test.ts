/**
 * Which tools of a machine's programs are offered, and to whom: the machine's own list, the gateway's rules and approvals, a new name, and
 * an administrator who disconnects a program and reconnects it. With public servers behind `portico connect`.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { connectPrograms, type Connected } from '../support/connected.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { ERAS, makeMachine, openClient, textIn, type Machine } from '../support/programs.ts';
import { listAllTools, open, resultOf } from '../support/raw-client.ts';
import { create } from '../support/team.ts';

const SERVERS = '/api/v1/aggregator/servers';
const WAIT_MS = 60_000;

let gateway: Gateway;
let machine: Machine;
let connected: Connected;
let note: string;

beforeAll(async () => {
  [machine, gateway] = await Promise.all([
    makeMachine(),
    // A machine that is away for a while opens no circuit: a returning program is called at once.
    startGateway({ env: { PORTICO_CIRCUIT_FAILURES: '1000' } }),
  ]);
  note = join(machine.folder, 'note.txt');
  await writeFile(note, 'what is in it');
  const { files, memory, everything } = machine.programs;
  const tools = { allow: ['read_*', 'list_directory'], deny: ['read_media_*'] };
  const programs = { files: { ...files, portico: { tools } }, memory, everything };
  connected = await connectPrograms(gateway, 'desk', programs);
}, 300_000);

afterAll(async () => {
  await connected?.end('SIGTERM');
  await gateway?.stop();
  await machine?.remove();
});

const idOf = (name: string): string => connected.servers.get(name)?.id ?? '';
const openRaw = (era: (typeof ERAS)[number], token = gateway.adminToken) =>
  open(era, { url: `${gateway.origin}/mcp`, token });

/** Returns what a client is offered of a server, by the server's own names. */
async function toolsOf(server: string, token = gateway.adminToken): Promise<string[]> {
  const tools = await listAllTools(await openRaw('modern', token));
  return tools.flatMap(({ name }) =>
    name.startsWith(`${server}.`) ? name.slice(server.length + 1) : [],
  );
}

describe.each(ERAS)('a %s client', era => {
  it('[CLI-1] [MCP-9] is not offered tools that the machine withholds, and cannot tell them from unknown ones', async () => {
    const client = await openClient(era, gateway);
    const names = (await client.listTools()).map(({ name }) => name);
    const files = names.filter(name => name.startsWith('files.')).toSorted();
    const kept = ['list_directory', 'read_file', 'read_multiple_files', 'read_text_file'];
    expect(files).toEqual(kept.map(name => `files.${name}`));
    expect(textIn(await client.callTool('files.read_text_file', { path: note }))).toBe(
      'what is in it',
    );
    await client.close();
    const raw = await openRaw(era);
    const path = join(machine.folder, `${era}.txt`);
    const refusal = async (name: string) => {
      const { status, message } = await raw.call(`files.${name}`, { path, content: 'x' });
      expect(message.error).toBeDefined();
      return [status, JSON.stringify(message.error).replace(name, 'NAME')];
    };
    const unknown = await refusal('no_such_tool');
    expect(await refusal('write_file')).toEqual(unknown);
    expect(await refusal('read_media_file')).toEqual(unknown);
    expect(existsSync(path)).toBe(false);
  });
});

it('[CLI-1] [ACC-3] [MCP-9] a rule hides one tool of a program from a group, and nothing else', async () => {
  const { id } = await create(gateway, '/api/v1/principals', { name: 'ada', groups: ['interns'] });
  const { token } = await gateway.createToken({ name: 'ada', principal: id });
  const rule = { effect: 'deny', subject: { kind: 'group', name: 'interns' } };
  await create(gateway, '/api/v1/access/rules', { ...rule, server: 'everything', tool: 'get-*' });
  const [all, seen] = [await toolsOf('everything'), await toolsOf('everything', token)];
  expect(all).toContain('get-sum');
  expect(seen).toEqual(all.filter(name => !name.startsWith('get-')));
  for (const era of ERAS) {
    const client = await openRaw(era, token);
    const [hidden, unknown] = [
      await client.call('everything.get-sum', { a: 1, b: 2 }, 1),
      await client.call('everything.get-nil', { a: 1, b: 2 }, 1),
    ];
    expect(hidden.message.error).toBeDefined();
    expect(hidden.text.replace('get-sum', 'get-nil')).toBe(unknown.text);
    const echoed = resultOf(await client.call('everything.echo', { message: 'may' }));
    expect(textIn(echoed)).toContain('may');
  }
});

it('[CLI-1] [SEC-7] tools of a program that requires approval wait for it', async () => {
  const programs = { held: machine.programs.files };
  const settings = { tool_approval: 'hold' };
  const other = await connectPrograms(gateway, 'held-desk', programs, { settings });
  const id = other.servers.get('held')?.id ?? '';
  expect(await toolsOf('held')).toEqual([]);
  const client = await openRaw('modern');
  const read = () => client.call('held.read_text_file', { path: note });
  expect((await read()).message.error).toBeDefined();
  const { json } = await gateway.api('GET', `/api/v1/approvals?server=${id}&limit=500`);
  const waiting = json['approvals'] as Record<string, string>[];
  expect(waiting.length).toBeGreaterThan(10);
  const items = waiting
    .filter(({ name }) => name === 'read_text_file')
    .map(({ server_id, kind, name, held_fingerprint }) => {
      return { server_id, kind, name, fingerprint: held_fingerprint };
    });
  const { status, json: done } = await gateway.api('POST', '/api/v1/approvals/approve', { items });
  expect([status, done['decided']]).toEqual([200, 1]);
  await until('the tool is offered', WAIT_MS, async () =>
    (await toolsOf('held')).join() === 'read_text_file' ? true : undefined,
  );
  expect(textIn(resultOf(await read()))).toBe('what is in it');
  await other.end('SIGTERM');
});

describe('a program that an administrator', () => {
  /** Calls the memory server, under its name in the registry. */
  const readGraph = (server: string) =>
    gateway.api('POST', '/api/v1/tools/call', { name: `${server}.read_graph`, arguments: {} });
  const act = async (verb: 'connect' | 'disconnect') => {
    const { status } = await gateway.api('POST', `${SERVERS}/${idOf('memory')}/${verb}`);
    expect(status).toBeLessThan(300);
  };
  const untilMachine = (status: string) =>
    until(`the machine is ${status}`, WAIT_MS, async () => {
      const { json } = await gateway.api('GET', `/api/v1/connectors/${connected.connectorId}`);
      return json['status'] === status || undefined;
    });
  /** Restarts the command; it reads its programs' lists before it dials. */
  const restart = async () => {
    await connected.end('SIGTERM');
    await untilMachine('DISCONNECTED');
    connected.restart();
    await untilMachine('CONNECTED');
  };

  beforeEach(async () => {
    await gateway.api('PATCH', `${SERVERS}/${idOf('memory')}`, { name: 'memory' });
    await gateway.waitFor(idOf('memory'), 'CONNECTED', WAIT_MS);
  });

  it('[CLI-1] [AG-US7-AC6] renames is called by its new name, also after its machine reconnected', async () => {
    const { json } = await gateway.api('PATCH', `${SERVERS}/${idOf('memory')}`, { name: 'graph' });
    expect(json).toMatchObject({ name: 'graph', transport_type: 'STDIO' });
    const check = async () => {
      expect(await toolsOf('graph')).toContain('read_graph');
      expect(await toolsOf('memory')).toEqual([]);
      for (const era of ERAS) {
        const client = await openClient(era, gateway);
        expect(textIn(await client.callTool('graph.read_graph'))).toContain('entities');
        await client.close();
        const { message } = await (await openRaw(era)).call('memory.read_graph');
        expect(message.error).toBeDefined();
      }
    };
    await check();
    await restart();
    await check();
    const { json: named } = await gateway.api('GET', `${SERVERS}?name=memory`);
    expect(named['total']).toBe(0);
  });

  it('[CLI-1] [REG-3] [AG-US6-AC1] [AG-US6-AC2] [AG-US4-AC3] disconnects is unavailable until it is connected again, also after its machine reconnected', async () => {
    expect((await readGraph('memory')).status).toBe(200);
    const isDown = async () => {
      await gateway.waitFor(idOf('memory'), 'DISCONNECTED', WAIT_MS);
      expect(await toolsOf('memory')).toEqual([]);
      expect((await readGraph('memory')).status).toBe(503);
      expect(await toolsOf('files')).toHaveLength(4);
    };
    await act('disconnect');
    await isDown();
    await restart();
    await isDown();
    await act('connect');
    await gateway.waitFor(idOf('memory'), 'CONNECTED', WAIT_MS);
    await until('its tools are back', WAIT_MS, async () =>
      (await toolsOf('memory')).includes('read_graph') ? true : undefined,
    );
    expect((await readGraph('memory')).status).toBe(200);
  });
});
