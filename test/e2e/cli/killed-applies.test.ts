/**
 * kill -9 of `portico apply`, and of the gateway while it applies: each record exists with its owner or not at all, the next apply creates
 * the rest, and one more changes nothing. Either is killed at a request that a relay counts, or when a row is first seen in the database.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import { startCountedRelay, type CountedRelay, type Moment } from '../support/counted-relay.ts';
import { askApi } from '../support/gateway-tour.ts';
import { startMain, type MainProcess } from '../support/main-process.ts';
import { COMPILE_CACHE, MAIN, runPortico } from '../support/portico-command.ts';

const FILE = 'portico.yaml';
const PATHS: Readonly<Record<string, string>> = {
  secret: '/api/v1/secrets',
  connector: '/api/v1/connectors',
  server: '/api/v1/aggregator/servers',
  principal: '/api/v1/principals',
  rule: '/api/v1/access/rules',
  toolset: '/api/v1/toolsets',
  cache_rule: '/api/v1/cache/rules',
  ask_allowlist: '/api/v1/ask/allowlist',
};

/** A file with one or two records of every kind, in the order of their creation. */
const fileOf = (owner: string, tool = 'search_*') => ({
  owner,
  secrets: {
    [`${owner.toUpperCase()}_KEY`]: {
      value: '${env:KEY}',
      origins: [`https://${owner}.example.com`],
    },
  },
  connectors: { [`${owner}-box`]: {} },
  servers: {
    [`${owner}-one`]: {
      transport_type: 'HTTP',
      connection_config: { url: `https://${owner}.example.com/mcp` },
      auto_connect: false,
    },
  },
  principals: { [`${owner}-ada`]: { groups: [owner] }, [`${owner}-bob`]: {} },
  rules: {
    allow: { effect: 'allow', subject: { kind: 'group', name: owner }, tool: 'a_*' },
    deny: { effect: 'deny', subject: { kind: 'principal', name: `${owner}-bob` }, tool: 'b_*' },
  },
  toolsets: { [`${owner}-set`]: { include: [`${owner}-one.get_*`] } },
  cache_rules: { cache: { server: `${owner}-one`, tool: 'get_*', ttl_seconds: 60 } },
  ask_allowlist: { ask: { server: `${owner}-one`, tool } },
});
const ALL = 10;
const SOON_MS = 60_000;

interface Change {
  verb: string;
  kind: string;
  key: string;
  problem?: string;
}

let folder: string;
let gateway: MainProcess;
let relay: CountedRelay;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-killed-applies-'));
  await cp(inject('migratedStorage'), join(folder, 'data/storage'), { recursive: true });
  gateway = await startMain(join(folder, 'data'));
  await gateway.ready();
  relay = await startCountedRelay(gateway.port);
});

afterAll(async () => {
  gateway?.killAll();
  await gateway?.ended();
  await relay?.close();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({
  PORTICO_URL: relay.origin,
  PORTICO_TOKEN: gateway.adminToken,
  KEY: 'a value',
});
const write = (file: object) => writeFile(join(folder, FILE), stringify(file));

/** Applies a file while `kill` kills something. @returns once the command has ended */
async function applyKilled(kill: (client: ChildProcess, moment: Moment, n: number) => void) {
  const client = spawn(process.execPath, [MAIN, 'apply', '-f', FILE], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...COMPILE_CACHE, ...environment() },
    stdio: 'ignore',
  });
  relay.restart();
  relay.on = (moment, n) => kill(client, moment, n);
  await once(client, 'exit');
  relay.on = undefined;
}

async function apply(): Promise<Change[]> {
  const ran = await runPortico(['apply', '-f', FILE, '--json'], {
    cwd: folder,
    env: environment(),
  });
  expect([ran.err, ran.code]).toEqual(['', 0]);
  return ran.json<{ changes: Change[] }>().changes;
}

/** Returns kind and key of an owner's records; each of these records exists. */
async function owned(owner: string): Promise<string[]> {
  const { json } = await askApi(gateway, 'GET', '/api/v1/owners?limit=500');
  const marks = json['records'] as { owner: string; kind: string; id: string; key: string }[];
  const own = marks.filter(mark => mark.owner === owner);
  for (const { kind, id } of own) {
    const { json: page } = await askApi(gateway, 'GET', `${PATHS[kind]}?limit=500`);
    expect([kind, JSON.stringify(page).includes(`"${id}"`)]).toEqual([kind, true]);
  }
  return own.map(({ kind, key }) => `${kind} ${key}`);
}

/** Counts how often an owner's records were created, changed and deleted, from the audit. */
async function countActs(owner: string): Promise<Record<string, number>> {
  const { json } = await askApi(gateway, 'GET', '/api/v1/audit?limit=500');
  const events = json['events'] as {
    action: string;
    outcome: string;
    detail: { owner?: string };
  }[];
  const own = events.filter(({ outcome, detail }) => outcome === 'done' && detail.owner === owner);
  return Object.fromEntries(
    [...Map.groupBy(own, ({ action }) => action)].map(([action, of]) => [action, of.length]),
  );
}

/**
 * Checks that the next apply creates exactly what is missing, that each record was created once, and that one more apply changes nothing.
 */
async function isWhole(owner: string, made: number): Promise<void> {
  const changes = await apply();
  expect(changes.filter(({ verb }) => verb !== 'create')).toEqual([]);
  expect(changes).toHaveLength(ALL - made);
  expect(await owned(owner)).toHaveLength(ALL);
  expect(await apply()).toEqual([]);
  const { 'secret.put': secrets, ...acts } = await countActs(owner);
  expect([secrets, acts]).toEqual([
    1,
    {
      'connector.create': 1,
      'server.create': 1,
      'principal.create': 2,
      'rule.create': 2,
      'toolset.create': 1,
      'cache_rule.create': 1,
      'ask_allowlist.create': 1,
    },
  ]);
  const { json } = await askApi(gateway, 'GET', '/api/v1/audit/verify');
  expect(json).toMatchObject({ is_intact: true });
}

describe('a killed portico apply', () => {
  it.each<[string, string, Moment, number]>([
    ['after its first write', 'first', 'answered', 1],
    ['while it makes a server', 'second', 'sent', 3],
    ['before its last write', 'third', 'answered', ALL - 1],
  ])('[OPS-4] [OPS-6] %s is completed by the next', async (_what, owner, moment, at) => {
    await write(fileOf(owner));
    await applyKilled((client, seen, n) => {
      if (seen === moment && n === at) client.kill('SIGKILL');
    });
    // Requests already sent are still executed.
    await expect.poll(() => owned(owner), { timeout: SOON_MS }).toHaveLength(at);
    await isWhole(owner, at);
  });

  it('[OPS-4] [OPS-6] between the halves of a replacement is completed by the next', async () => {
    await write(fileOf('replaced'));
    await apply();
    await write(fileOf('replaced', 'find_*'));
    await applyKilled((client, moment, n) => {
      if (moment === 'answered' && n === 1) client.kill('SIGKILL');
    });
    expect(await owned('replaced')).toHaveLength(ALL - 1);
    expect(await apply()).toMatchObject([{ verb: 'create', kind: 'ask_allowlist', key: 'ask' }]);
    expect(await owned('replaced')).toHaveLength(ALL);
    expect(await apply()).toEqual([]);
  });
});

describe('a killed gateway', () => {
  const restart = async () => {
    await gateway.ended();
    gateway = await startMain(join(folder, 'data'), gateway);
    await gateway.ready();
  };

  it.each<[string, string, Moment, number]>([
    ['while a write is on its way', 'fourth', 'sent', 2],
    ['after a write', 'fifth', 'answered', 6],
  ])('[OPS-4] [OPS-6] %s of an apply has complete records', async (_what, owner, moment, at) => {
    await write(fileOf(owner));
    await applyKilled((_client, seen, n) => {
      if (seen === moment && n === at) gateway.killAll();
    });
    await restart();
    const made = (await owned(owner)).length;
    expect(moment === 'answered' ? [at] : [at - 1, at]).toContain(made);
    await isWhole(owner, made);
  });

  it('[OPS-4] [OPS-6] when a record is first seen in the database has its owner there too', async () => {
    await write(fileOf('sixth'));
    const database = new DatabaseSync(await findDatabase(), { readOnly: true });
    const select = database.prepare("SELECT 1 FROM principals WHERE name = 'sixth-ada'");
    const applying = applyKilled(() => {});
    while (!select.get()) await new Promise(resolve => setImmediate(resolve));
    gateway.killAll();
    database.close();
    await applying;
    await restart();
    const there = await owned('sixth');
    expect(there).toContain('principal sixth-ada');
    await isWhole('sixth', there.length);
  });
});

async function findDatabase(): Promise<string> {
  const at = join(folder, 'data/storage/d1');
  const entries = await readdir(at, { recursive: true, withFileTypes: true });
  const found = entries.find(
    ({ name }) => name.endsWith('.sqlite') && !name.startsWith('metadata'),
  );
  if (!found) throw new Error('no database');
  return join(found.parentPath, found.name);
}
