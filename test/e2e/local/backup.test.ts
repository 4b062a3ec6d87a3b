/** A backup of a busy gateway, and a restore of it into another folder, by processes that may be killed. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { create } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestsIn } from '../../../local/backup/back-up.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { startKeyed, type KeyedUpstream } from '../support/keyed-upstream.ts';
import { MAIN, runPortico } from '../support/portico-command.ts';

const CLIENTS = 50;
/** The least number of calls that were answered before the backup. */
const CALLS = 300;
/** The steps at which a restore is killed, in order, and whether everything is restored by then. */
const STEPS: [step: string, isWhole: boolean][] = [
  ['rm:1', false],
  ['mkdir:1', false],
  ['open:1', false],
  ['write:5', false],
  ['rm:2', false],
  ['writeFile:1', false],
  ['rmdir:1', false],
  ['rename:1', false],
  ['rm:3', true],
];
const KILL_AT = fileURLToPath(new URL('../support/kill-at.mjs', import.meta.url));

let folder: string;
let upstream: KeyedUpstream;
let gateway: Gateway;
let member: string;
let session: string;
let answered: ReadonlySet<number>;
const at = (name: string) => join(folder, name);

/** Makes a call in the session of a legacy client. */
async function inSession(origin: string): Promise<string> {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${member}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session ? { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' } : {}),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      ...(session
        ? { method: 'tools/call', params: { name: 'keyed.echo', arguments: {} } }
        : {
            method: 'initialize',
            params: {
              protocolVersion: '2025-11-25',
              capabilities: {},
              clientInfo: { name: 'backup', version: '1' },
            },
          }),
    }),
  });
  session ||= response.headers.get('mcp-session-id') ?? '';
  return response.text();
}

/** Makes a backup under load. @returns the calls that were answered before it */
async function backUpUnderLoad(): Promise<Set<number>> {
  const done = new Set<number>();
  const load = { isOver: false };
  let next = 0;
  const callOn = async () => {
    while (!load.isOver) {
      const n = (next += 1);
      const body = { name: 'keyed.echo', arguments: { n } };
      const { status } = await gateway.api('POST', '/api/v1/tools/call', body, member);
      if (status === 200) done.add(n);
    }
  };
  const clients = Array.from({ length: CLIENTS }, callOn);
  while (done.size < CALLS) await new Promise(resolve => setTimeout(resolve, 20));
  const before = new Set(done);
  const args = ['backup', at('portico.tar.gz'), '--data', gateway.data];
  const { code, err } = await runPortico(args);
  load.isOver = true;
  await Promise.all(clients);
  expect([code, err.includes('databases to')]).toEqual([0, true]);
  return before;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-backup-'));
  upstream = await startKeyed('a key', 'a secret');
  gateway = await startGateway();
  await gateway.register('keyed', `${upstream.origin}/mcp`, { headers: { 'X-Key': 'a key' } });
  ({ token: member } = await gateway.createToken({ name: 'member', scopes: ['tools:call'] }));
  await inSession(gateway.origin);
  answered = await backUpUnderLoad();
}, 300_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a backup', () => {
  it('[OPS-4] is readable by its owner only, and has its keys in another file', async () => {
    const files = ['portico.tar.gz', 'portico.keys.json'];
    const modes = await Promise.all(files.map(async name => (await stat(at(name))).mode & 0o777));
    expect(modes).toEqual([0o600, 0o600]);
    expect((await readdir(folder)).toSorted()).toEqual(files.toSorted());
  });

  it('[OPS-4] does not overwrite another', async () => {
    const { code, err } = await runPortico([
      'backup',
      at('portico.tar.gz'),
      '--data',
      gateway.data,
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining('already exists; name another')]);
  });

  it('[OPS-4] of a folder without a gateway says so', async () => {
    const { code, err } = await runPortico(['backup', at('no.tar.gz'), '--data', folder]);
    expect([code, err]).toEqual([2, expect.stringContaining('name its folder with --data')]);
  });
});

describe('a restored gateway', () => {
  let restored: Gateway;
  beforeAll(async () => {
    const args = ['restore', at('portico.tar.gz'), '--data', at('restored')];
    await runPortico(args);
    const { adminToken } = gateway;
    restored = await startGateway({ data: at('restored'), adminToken });
  }, 300_000);
  afterAll(() => restored?.stop());

  it('[OPS-4] accepts the tokens, and opens the credentials of servers', async () => {
    const body = { name: 'keyed.echo', arguments: {} };
    const { status, text } = await restored.api('POST', '/api/v1/tools/call', body, member);
    expect([status, text]).toEqual([200, expect.stringContaining('served')]);
    expect(upstream.refused).toBe(0);
  });

  it('[OPS-4] continues the sessions of clients', async () => {
    expect(await inSession(restored.origin)).toContain('served');
  });

  it('[OPS-4] has the row of each call answered before, and chains that verify', async () => {
    const { text } = await restored.api('GET', '/api/v1/audit/export?action=tool.call');
    const rows = text.split('\n').filter(line => line !== '');
    const marks = rows.map(row => (JSON.parse(row) as Row).detail.arguments?.n);
    const missing = [...answered].filter(n => !marks.includes(n));
    expect([missing, answered.size >= CALLS]).toEqual([[], true]);
    const env = { PORTICO_URL: restored.origin, PORTICO_TOKEN: restored.adminToken };
    const { code, err } = await runPortico(['audit', 'verify'], { env });
    expect([code, err]).toEqual([0, err]);
  });

  it('[OPS-4] is not written into a folder that is not empty', async () => {
    const { code, err } = await runPortico([
      'restore',
      at('portico.tar.gz'),
      '--data',
      at('restored'),
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining('is not empty')]);
  });
});

interface Row {
  detail: { arguments?: { n?: number } };
}

describe('a restore', () => {
  it('[OPS-4] that is killed at a step leaves nothing or everything, and the next one is complete', async () => {
    const restore = (to: string, killAt?: string) => {
      const env = killAt ? { NODE_OPTIONS: `--import=${KILL_AT}`, KILL_AT: killAt } : {};
      return runPortico(['restore', at('portico.tar.gz'), '--data', at(to)], { env });
    };
    expect((await restore('unkilled')).code).toBe(0);
    const whole = await digestsIn(at('unkilled'));
    for (const [step, isWhole] of STEPS) {
      const { code } = await restore('killed', step);
      const left = await digestsIn(at('killed')).catch(() => ({}));
      expect([step, code, left]).toEqual([step, -1, isWhole ? whole : {}]);
      await rm(at('killed'), { recursive: true, force: true });
    }
    expect((await restore('killed')).code).toBe(0);
    expect(await digestsIn(at('killed'))).toEqual(whole);
    expect((await readdir(folder)).filter(name => name.includes('restoring'))).toEqual([]);
  });

  it.each([
    [
      'half an archive',
      async () => {
        await copyFile(at('portico.tar.gz'), at('bad.tar.gz'));
        await truncate(at('bad.tar.gz'), Math.floor((await stat(at('bad.tar.gz'))).size / 2));
      },
    ],
    ['an archive of something else', () => archiveOf({ 'a.txt': 'a' })],
    [
      'files that are not those of the list',
      () => archiveOf({ 'manifest.json': '{"format":1,"at":0,"files":{"storage/d1/a":"00"}}' }),
    ],
    ['a list of another version', () => archiveOf({ 'manifest.json': '{"format":2}' })],
  ])('[OPS-4] refuses %s', async (_what, make) => {
    await make();
    await writeFile(at('bad.keys.json'), '{}');
    const { code, err } = await runPortico(['restore', at('bad.tar.gz'), '--data', at('bad')]);
    expect([code, err]).toEqual([1, expect.stringContaining('is not a complete backup')]);
    expect(await readdir(at('bad')).catch(() => 'nothing')).toBe('nothing');
    await rm(at('bad.tar.gz'));
  });

  it('[OPS-4] does not blame the archive for a disk that takes no more', async () => {
    const args = ['restore', at('portico.tar.gz'), '--data', at('full')];
    const limited = ['-c', 'ulimit -f 8; exec "$@"', 'sh', process.execPath, MAIN, ...args];
    const said = await promisify(execFile)('/bin/sh', limited).then(
      () => 'restored',
      ({ stderr }: { stderr: string }) => stderr,
    );
    expect(said).toContain(`${at('portico.tar.gz')} cannot be unpacked to ${folder}: EFBIG`);
    expect(await readdir(at('full')).catch(() => 'nothing')).toBe('nothing');
  });

  it('[OPS-4] requires the keys', async () => {
    const { code, err } = await runPortico([
      'restore',
      at('portico.tar.gz'),
      '--keys',
      at('lost.json'),
      '--data',
      at('keyless'),
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining('name the keys with --keys')]);
  });

  it('[OPS-4] names the archive if that is missing, not its keys', async () => {
    const { code, err } = await runPortico(['restore', at('no.tar.gz'), '--data', at('none')]);
    expect([code, err]).toEqual([2, `portico: ${at('no.tar.gz')} cannot be read (ENOENT)\n`]);
  });
});

async function archiveOf(files: Record<string, string>): Promise<void> {
  const from = at('made');
  await mkdir(from);
  for (const [name, text] of Object.entries(files)) await writeFile(join(from, name), text);
  await create({ file: at('bad.tar.gz'), cwd: from, gzip: true }, Object.keys(files));
  await rm(from, { recursive: true });
}
