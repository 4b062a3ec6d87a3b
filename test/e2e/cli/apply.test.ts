/** `portico apply`, `diff` and `export`: they make a gateway match a file, from the first apply to the last record. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { ALL, wholeFile } from '../support/whole-file.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';

const SECRET = 'a-value-that-nobody-may-see-4711';
const FILE = 'portico.yaml';

interface Change {
  verb: string;
  kind: string;
  key: string;
  problem?: string;
}

let gateway: Gateway;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-apply-'));
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

const environment = ({ origin, adminToken }: Gateway) => ({
  PORTICO_URL: origin,
  PORTICO_TOKEN: adminToken,
  SHARED: SECRET,
});

async function write(file: object, name = FILE): Promise<void> {
  await writeFile(join(folder, 'from-file.txt'), `${SECRET}-of-a-file\n`);
  await writeFile(join(folder, name), stringify(file));
}

/** Runs the command in the folder of the file and checks that its output contains no secret. */
async function portico(args: string[], to: Gateway = gateway, env: object = {}): Promise<Ran> {
  const ran = await runPortico(args, { cwd: folder, env: { ...environment(to), ...env } });
  expect(`${ran.out}${ran.err}`).not.toContain(SECRET);
  return ran;
}

async function change(args: string[] = [], to: Gateway = gateway): Promise<Change[]> {
  const ran = await portico(['apply', '-f', FILE, '--json', ...args], to);
  expect([ran.err, ran.code]).toEqual(['', 0]);
  return ran.json<{ changes: Change[] }>().changes;
}

/** Counts administrative actions that changed something. */
async function countActs(): Promise<number> {
  const ran = await portico(['audit', '--json', '--limit', '500']);
  const rows = ran.json<{ action: string }[]>();
  return rows.filter(({ action }) => /\.(create|update|put|delete|take)$/.test(action)).length;
}

async function owned(owner: string): Promise<string[]> {
  const { json } = await gateway.api('GET', '/api/v1/owners?limit=500');
  const records = json['records'] as { owner: string; kind: string; key: string }[];
  return records.filter(each => each.owner === owner).map(({ kind, key }) => `${kind} ${key}`);
}

describe('portico apply', () => {
  it('[OPS-6] makes a gateway match a file, once, and applies later edits of the file', async () => {
    const file = wholeFile('whole');
    await write(file);
    const planned = await portico(['apply', '-f', FILE, '--dry-run']);
    expect(planned.out).toContain(`${ALL} to create`);
    expect(await owned('whole')).toEqual([]);
    const before = await countActs();
    const made = await change();
    expect(made.filter(({ verb, problem }) => verb !== 'create' || problem)).toEqual([]);
    expect(made).toHaveLength(ALL);
    expect(await countActs()).toBe(before + ALL);
    expect(await owned('whole')).toHaveLength(ALL);

    expect(await change()).toEqual([]);
    expect((await portico(['diff', '-f', FILE])).code).toBe(0);
    expect(await countActs()).toBe(before + ALL);

    const rule = file.rules['rule-7'];
    if (!rule) throw new Error('no rule');
    rule.tool = 'edited_*';
    await write(file);
    const diff = await portico(['diff', '-f', FILE]);
    expect(diff.code).toBe(1);
    expect(diff.out).toBe('~ rule rule-7\n    tool: "tool_7_*" → "edited_*"\n1 to change\n');
    expect(await change()).toMatchObject([{ verb: 'update', kind: 'rule', key: 'rule-7' }]);
    expect(await countActs()).toBe(before + ALL + 1);
    expect(await change()).toEqual([]);
  });

  it('[OPS-6] notices that the value of a secret changed', async () => {
    await write(wholeFile('whole'));
    await change();
    const env = { SHARED: `${SECRET}-renewed` };
    const diff = await portico(['diff', '-f', FILE], gateway, env);
    expect(diff.out).toContain('~ secret WHOLE_SHARED\n    value: a new value');
    expect((await portico(['apply', '-f', FILE], gateway, env)).code).toBe(0);
    expect((await portico(['diff', '-f', FILE], gateway, env)).code).toBe(0);
    expect(await change()).toMatchObject([{ verb: 'update', kind: 'secret', key: 'WHOLE_SHARED' }]);
  });

  it('[OPS-6] deletes records that left the file, and keeps those of people and other files', async () => {
    await write(wholeFile('whole'));
    await change();
    const name = 'by-hand';
    const url = 'https://by-hand.example.com/mcp';
    expect((await portico(['servers', 'add', name, url, '--no-connect'])).code).toBe(0);
    await write({ owner: 'other', principals: { someone: {} } });
    expect(await change(['--prune'])).toHaveLength(1);
    expect(await owned('whole')).toHaveLength(ALL);

    const { owner, servers, principals } = wholeFile('whole');
    await write({ owner, principals: { 'whole-person-0': principals['whole-person-0'] } });
    const left = await portico(['apply', '-f', FILE, '--dry-run']);
    expect(left.out).toContain('server whole-server-0 is not in the file; --prune deletes it');
    const gone = await change(['--prune']);
    expect(gone.filter(({ verb }) => verb === 'delete')).toHaveLength(ALL - 1);
    expect(await owned('whole')).toEqual(['principal whole-person-0']);
    expect(await owned('other')).toEqual(['principal someone']);
    const { json } = await gateway.api('GET', '/api/v1/aggregator/servers?limit=500');
    const names = (json['servers'] as { name: string }[]).map(each => each.name);
    expect(names).toContain(name);
    expect(names.filter(each => each in servers)).toEqual([]);
  });

  it('[OPS-6] round-trips: an export makes another gateway the same', async () => {
    await write(wholeFile('whole'));
    await change();
    const other = await startGateway();
    try {
      const exported = await portico(['export']);
      expect(exported.out).toMatch(
        /^# yaml-language-server: \$schema=http:\/\/127\.0\.0\.1:\d+\/schema\/portico\.json\n/,
      );
      await writeFile(join(folder, FILE), exported.out);
      const env = { WHOLE_SHARED: 'of-the-other', WHOLE_FROM_FILE: 'of-the-other' };
      // Each gateway has its own first member.
      const args = ['apply', '-f', FILE, '--adopt'];
      const applied = await portico(args, other, env);
      expect([applied.err, applied.code]).toEqual(['done\n', 0]);
      const withoutSchema = (text: string) => text.slice(text.indexOf('\n'));
      const again = await portico(['export'], other);
      expect(withoutSchema(again.out)).toBe(withoutSchema(exported.out));
      expect((await portico(['diff', '-f', FILE], other, env)).code).toBe(0);
    } finally {
      await other.stop();
    }
  });
});

describe('a file with mistakes', () => {
  it('[OPS-6] is reported line by line, and nothing is changed', async () => {
    const before = await countActs();
    await writeFile(
      join(folder, FILE),
      `owner: careful
secrets:
  ABSENT:
    value: \${env:NOT_SET}
    origins: [https://a.example.com]
servers:
  a:
    transport_type: HTTP
    connection_config:
      url: https://a.example.com/mcp
      headers: { X-Key: '\${NOWHERE}' }
principals:
  first-member: {}
`,
    );
    const ran = await portico(['apply', '-f', FILE]);
    expect(ran.code).toBe(2);
    expect(ran.out).toBe('');
    expect(ran.err.split('\n')).toEqual([
      'portico.yaml:4: secrets.ABSENT.value: the variable NOT_SET is not set',
      'portico.yaml:11: servers.a.connection_config.headers.X-Key: there is no secret NOWHERE',
      'portico.yaml:13: principals.first-member: already exists and belongs to people; see --adopt',
      'portico: 3 problems in portico.yaml; nothing is changed',
      '',
    ]);
    const asJson = await portico(['apply', '-f', FILE, '--json']);
    expect(asJson.json<{ problems: { line: number }[] }>().problems.map(p => p.line)).toEqual([
      4, 11, 13,
    ]);
    expect(await countActs()).toBe(before);
    expect(await owned('careful')).toEqual([]);
  });

  it('[OPS-6] reports refused records one by one, and applies the rest', async () => {
    await writeFile(
      join(folder, FILE),
      `owner: partly
principals:
  partly-one: {}
servers:
  partly-bad:
    transport_type: HTTP
    connection_config: { url: 'ftp://nowhere.example.com' }
rules:
  good: { effect: deny, subject: { kind: principal, name: partly-one } }
`,
    );
    const ran = await portico(['apply', '-f', FILE]);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('portico.yaml:5: server partly-bad: connection_config.url: ');
    expect(ran.err).toContain('1 of 3 changes were not made');
    expect(await owned('partly')).toEqual(['principal partly-one', 'rule good']);
  });

  it('[OPS-6] is refused for a member, who learns nothing', async () => {
    const { token } = await gateway.createToken({ name: 'member' });
    const ran = await portico(['apply', '-f', FILE], gateway, { PORTICO_TOKEN: token });
    expect([ran.code, ran.out]).toEqual([3, '']);
  });
});

it('[OPS-6] prints and stores no value of a secret in clear text', async () => {
  expect(gateway.output()).not.toContain(SECRET);
  const files = await readdir(gateway.data, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter(file => file.isFile()).map(file => readFile(join(file.parentPath, file.name))),
  );
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.filter(text => text.includes(SECRET))).toEqual([]);
});
