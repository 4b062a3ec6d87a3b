/**
 * A program that speaks both eras: a process of their era serves legacy clients. It starts for the first of them, gets that client's
 * capabilities, and ends when nobody uses it. One start shows whether a program speaks the legacy era.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { openModern, textOf as textIn } from '../support/raw-client.ts';
import { closeStands, isGone, node, openStand, pidOf, type Stand } from '../support/stdio-stand.ts';
import { openWireSession, type WireSession } from '../support/wire-session.ts';

const folders: string[] = [];
afterAll(async () => {
  await closeStands();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

type More = Parameters<typeof openStand>[1];

/** Opens the program behind its adapter and waits until it is ready; `starts` counts its starts. */
async function openDual(more: More = {}, ...options: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'portico-eras-'));
  folders.push(folder);
  const LOG = join(folder, 'log');
  const broken = join(folder, 'broken');
  const spec = { ...node('test/fixtures/dual-stdio.ts', ...options), env: { LOG, BROKEN: broken } };
  let news = 0;
  const limits = { sideMs: 60_000, ...more?.limits };
  const stand = await openStand(spec, { ...more, limits, onEvent: () => (news += 1) });
  await stand.reached('ready', ({ state }) => state === 'ready');
  const lines = async () => (await readFile(LOG, 'utf8')).trim().split('\n');
  const starts = async () => (await lines()).filter(line => line.startsWith('started')).length;
  return { stand, starts, news: () => news, broken };
}

const textOf = (message: Record<string, unknown> | undefined) =>
  (message?.['result'] as { content?: { text: string }[] } | undefined)?.content?.[0]?.text;

/** Calls a tool. @returns the status if it is not 200, else the text of the result */
async function call(session: WireSession, name: string, given = {}) {
  const answer = await session.call(name, given);
  await answer.over;
  return answer.status === 200 ? textOf(answer.messages().at(-1)) : answer.status;
}

const callModern = async ({ url }: Stand, name: string) =>
  textIn(await openModern({ url }).call(name));

/** Sends a GET that probes for sessions and opens none. @returns the status */
const look = async ({ url }: Stand) => {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
  await response.text();
  return response.status;
};
const open = async ({ url }: Stand, id = 1) => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
};
const pidIn = (said: unknown) => Number(String(said).split(' ')[1]);

describe('[CLI-1] [MCP-5] a program of both eras', () => {
  it('serves each client in its own era, and starts a process for the first legacy one', async () => {
    const { stand, starts, news } = await openDual();
    expect(await callModern(stand, 'where')).toBe(`modern ${pidOf(stand)}`);
    expect([await look(stand), await starts()]).toEqual([428, 1]);
    const session = await openWireSession(stand.url, { elicitation: {} });
    const where = await call(session, 'where');
    expect(where).toMatch(/^legacy /);
    expect(pidIn(where)).not.toBe(pidOf(stand));
    expect(await callModern(stand, 'where')).toBe(`modern ${pidOf(stand)}`);
    const asking = await session.call('elicit');
    const { id } = await asking.heard('a question', ({ method }) => method !== undefined);
    await session.send({ id, result: { action: 'accept', content: { name: 'Ada' } } });
    await asking.over;
    expect(textOf(asking.messages().at(-1))).toBe('elicited Ada');
    await until('it is told of', 60_000, async () => news() === 1 || undefined);
    expect([await look(stand), await starts()]).toEqual([400, 2]);
  });

  it("gets its client's capabilities, and has one process per set of capabilities", async () => {
    const { stand, starts } = await openDual();
    const rich = await openWireSession(stand.url, { roots: {}, elicitation: {} });
    const same = await openWireSession(stand.url, { elicitation: { form: {} }, roots: {} });
    expect(await call(rich, 'has')).toBe('elicitation roots');
    expect(await call(same, 'where')).toBe(await call(rich, 'where'));
    for (const [capabilities, told] of [
      [{}, ''],
      [{ roots: {}, elicitation: {}, sampling: {} }, 'elicitation roots sampling'],
    ] as const) {
      const before = await openWireSession(stand.url, capabilities);
      expect(await call(before, 'has')).toBe(404);
      const moved = await openWireSession(stand.url, capabilities);
      expect(await call(moved, 'has')).toBe(told);
    }
    expect(await starts()).toBe(4);
  });

  it('ends the unused process even if its tools are listed, and starts it again for a returning client', async () => {
    const { stand, starts } = await openDual({ limits: { kindIdleMs: 3_000 } });
    const first = await openWireSession(stand.url);
    const pid = pidIn(await call(first, 'where'));
    const looking = setInterval(() => void first.send({ id: 9, method: 'tools/list' }), 200);
    await until('it is gone', 60_000, () => isGone(pid));
    clearInterval(looking);
    expect(await call(first, 'where')).toBe(404);
    expect([await look(stand), await starts()]).toEqual([428, 2]);
    const again = await openWireSession(stand.url);
    expect(pidIn(await call(again, 'where'))).not.toBe(pid);
    expect(await callModern(stand, 'where')).toBe(`modern ${pidOf(stand)}`);
  });

  it('is retried in the legacy era if it has spoken that era before', async () => {
    const { stand, broken } = await openDual({ limits: { kindIdleMs: 3_000 } });
    const pid = pidIn(await call(await openWireSession(stand.url), 'where'));
    await writeFile(broken, '');
    await until('it is gone', 60_000, () => isGone(pid));
    expect((await open(stand)).status).toBe(400);
    expect(await callModern(stand, 'where')).toBe(`modern ${pidOf(stand)}`);
    await rm(broken);
    await until('it is back', 60_000, async () => (await open(stand)).status === 200 || undefined);
  });

  it('keeps the process that a client listens to', async () => {
    const { stand } = await openDual({ limits: { kindIdleMs: 3_000 } });
    const session = await openWireSession(stand.url);
    const pid = pidIn(await call(session, 'where'));
    const stream = await session.listen();
    const subscribed = await session.send({
      id: 's',
      method: 'resources/subscribe',
      params: { uri: 'dual://it' },
    });
    await subscribed.over;
    await new Promise(resolve => setTimeout(resolve, 5_000));
    expect(pidIn(await call(session, 'where'))).toBe(pid);
    await call(session, 'touch');
    await stream.heard('an update', ({ method }) => method === 'notifications/resources/updated');
  });

  it.each([['--strict'], ['--busy']])(
    '[UP-1] with %s is started once more, and no more',
    async how => {
      const { stand, starts } = await openDual({}, how);
      expect(await look(stand)).toBe(428);
      const [first, second] = await Promise.all([open(stand), open(stand, 2)]);
      expect([first.status, second.status, await starts()]).toEqual([400, 400, 2]);
      expect(first.text).toContain('"code":-32022');
      expect((await open(stand)).status).toBe(400);
      expect([await look(stand), await starts()]).toEqual([405, 2]);
      expect(await callModern(stand, 'where')).toBe(`modern ${pidOf(stand)}`);
    },
  );

  it.each<[string, More]>([
    ['its era', { era: 'modern' }],
    ['what it is told', { capabilities: ['roots'] }],
  ])('is one modern process if its entry sets %s', async (_what, more) => {
    const { stand, starts } = await openDual(more);
    expect([await look(stand), (await open(stand)).status, await starts()]).toEqual([405, 400, 1]);
  });

  it('is one legacy process if its entry says so', async () => {
    const { stand, starts } = await openDual({ era: 'legacy' });
    const session = await openWireSession(stand.url, { roots: {} });
    expect(await call(session, 'where')).toBe(`legacy ${pidOf(stand)}`);
    expect(await starts()).toBe(1);
  });

  it('is restarted when its legacy process ends, which does not affect the modern one', async () => {
    const { stand, starts } = await openDual();
    const session = await openWireSession(stand.url);
    const pid = pidIn(await call(session, 'where'));
    process.kill(pid, 'SIGKILL');
    await until('it is gone', 60_000, () => isGone(pid));
    expect(await callModern(stand, 'where')).toBe(`modern ${pidOf(stand)}`);
    const again = await until('it is back', 60_000, async () => {
      const opened = await open(stand);
      return opened.status === 200 || undefined;
    });
    expect([again, await starts()]).toEqual([true, 3]);
  });
});
