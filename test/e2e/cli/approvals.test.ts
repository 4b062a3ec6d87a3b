/** `portico approvals` against a real gateway and a server that changes its tools. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';

const WAIT_MS = 30_000;
/** Looks like `act`, but with a Cyrillic letter. */
const MISLEADING = '\u0430ct';

interface Shown {
  server_name: string;
  name: string;
  state: string;
  held_fingerprint: string;
}

let gateway: Gateway;
let moody: Upstream;
let id: string;
/** A token that may list and call tools, nothing else. */
let member: string;

beforeAll(async () => {
  [gateway, moody] = await Promise.all([startGateway(), startFixture('moody')]);
  ({ id } = await gateway.register('moody', `${moody.origin}/mcp`));
  member = (await gateway.createToken({ name: 'member' })).token;
});

afterAll(async () => {
  await gateway?.stop();
  await moody?.stop();
});

const portico = (args: string[], token = gateway.adminToken): Promise<Ran> =>
  runPortico(args, { env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: token } });

/** Makes the server offer something else, and the gateway discover it. */
async function change(queries: Record<string, string>[], held: number): Promise<void> {
  for (const query of queries) await moody.counters(`?${new URLSearchParams(query)}`);
  for (const verb of ['disconnect', 'connect']) {
    await gateway.api('POST', `/api/v1/aggregator/servers/${id}/${verb}`);
  }
  await until('the gateway has seen it', WAIT_MS, async () => {
    const { json } = await gateway.api('GET', `/api/v1/aggregator/servers/${id}`);
    return (json['status'] === 'CONNECTED' && json['held_tools'] === held) || undefined;
  });
}

const listed = async () => (await portico(['approvals', '--json'])).json<Shown[]>();
const whenOffered = (names: string[]) =>
  until('the tools are offered', WAIT_MS, async () => {
    const tools = (await portico(['tools', '--json'])).json<{ name: string }[]>();
    return (
      tools
        .map(({ name }) => name)
        .toSorted()
        .join() === names.join() || undefined
    );
  });

it('[CLI-4] [SEC-7] says that nothing waits', async () => {
  expect(await portico(['approvals'])).toMatchObject({
    code: 0,
    out: '',
    err: 'nothing waits for approval\n',
  });
  const all = await portico(['approvals', 'approve', '--server', 'moody']);
  expect(all).toMatchObject({ code: 0, err: 'nothing waits\n' });
  expect((await portico(['servers'])).err).toBe('');
});

it('[CLI-4] [SEC-7] servers, tools and doctor report held tools and how to approve them', async () => {
  await change([{ description: 'Sends \u001B[2Jall of it', other: 'later' }], 2);
  const line =
    '2 tools are held until they are approved: moody.later, moody.act; see portico approvals\n';
  const either = [line, line.replace('moody.later, moody.act', 'moody.act, moody.later')];
  expect(either).toContain((await portico(['servers'])).err);
  expect(either).toContain((await portico(['tools'])).err.replace('no tools yet\n', ''));
  // A caller without the right to approve learns nothing of held tools.
  expect((await portico(['tools'], member)).err).not.toContain('held');
  const { out, code } = await portico(['doctor']);
  expect(code).toBe(1);
  expect(out).toMatch(/server moody: 2 tools are held until they are approved: moody\./);
  expect(out).toContain('portico approvals approve --server moody');
});

it('[CLI-4] [SEC-7] lists held tools, and shows what differs', async () => {
  const { out, code } = await portico(['approvals']);
  expect(code).toBe(0);
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^NAME +FINGERPRINT +SINCE +WHY$/);
  const rest = lines.slice(1).toSorted();
  expect(rest[0]).toMatch(/^moody\.act +[0-9a-f]{12} +\S+ +differs from the approved definition$/);
  expect(rest[1]).toMatch(/^moody\.later +[0-9a-f]{12} +\S+ +is new$/);
  const shown = await portico(['approvals', 'show', 'moody.act']);
  expect(shown.out).toMatch(
    /^moody\.act differs from the approved definition; fingerprint [0-9a-f]{64}\n/,
  );
  expect(shown.out).toContain('/description\n  + ');
  expect(shown.out).toContain('all of it');
  expect(shown.out).not.toContain('\u001B');
  const whole = (await portico(['approvals', 'show', 'moody.act', '--json'])).json<Shown>();
  expect(whole).toMatchObject({ server_name: 'moody', name: 'act', state: 'changed' });
});

it('[CLI-4] [SEC-7] approves only what was shown', async () => {
  const args = ['approvals', 'approve', 'moody.act', '--fingerprint'];
  const stale = await portico([...args, '0123456789ab']);
  expect(stale).toMatchObject({
    code: 1,
    err: expect.stringMatching(/moody\.act has changed; its fingerprint is now [0-9a-f]{12}\n$/),
  });
  const act = (await listed()).find(({ name }) => name === 'act');
  const done = await portico([...args, act?.held_fingerprint.slice(0, 12) ?? '']);
  expect(done).toMatchObject({ code: 0, out: '', err: 'approved: moody.act\n' });
  await whenOffered(['moody.act']);
  const rejected = await portico(['approvals', 'reject', 'moody.later', '--json']);
  expect(rejected.json()).toEqual({ decided: 1, server_ids: [id] });
  expect(await listed()).toEqual([]);
  // Rejects what was approved before.
  const again = await portico(['approvals', 'reject', 'moody.act']);
  expect(again).toMatchObject({ code: 0, err: 'rejected: moody.act\n' });
  await whenOffered([]);
});

it('[CLI-4] [SEC-7] approves all tools of a server except misleading ones, which are approved one by one', async () => {
  await change([{ description: 'Acts' }], 1);
  const one = await portico(['approvals', 'approve', '--server', 'moody']);
  expect(one).toMatchObject({ code: 0, err: 'approved: moody.act\n' });
  await whenOffered(['moody.act']);
  await change([{ other: MISLEADING }, { other: 'more' }], 2);
  const all = await portico(['approvals', 'approve', '--server', 'moody']);
  expect(all.code).toBe(0);
  expect(all.err).toMatch(
    /^approved: moody\.more\nmoody\.\S+ is not approved: it reads like act\n$/,
  );
  await whenOffered(['moody.act', 'moody.more']);
  const args = ['approvals', 'approve', `moody.${MISLEADING}`];
  expect(await portico(args)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/reads like act; approve it by itself with --accept-misleading\n$/),
  });
  expect((await portico([...args, '--accept-misleading'])).code).toBe(0);
  await whenOffered(['moody.act', 'moody.more', `moody.${MISLEADING}`]);
});

it('[CLI-4] reports wrong usage, missing rights and missing tools', async () => {
  const codes = await Promise.all(
    [
      ['approvals', 'approve'],
      ['approvals', 'approve', 'a.b', 'c.d', '--accept-misleading'],
      ['approvals', 'approve', 'a.b', '--fingerprint', 'xyz'],
      ['approvals', 'approve', 'moody.nothing'],
      ['approvals', 'show', 'moody.nothing'],
      ['approvals', '--server', 'nobody'],
    ].map(async args => (await portico(args)).code),
  );
  expect(codes).toEqual([2, 2, 2, 4, 4, 4]);
  expect((await portico(['approvals'], member)).code).toBe(3);
});
