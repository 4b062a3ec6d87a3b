/**
 * A program that asks for what its client said it has: clients that have it are asked, the others get what the program does without, from
 * a process that was told what they have.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { closeStands, isGone, node, openStand, pidOf, type Stand } from '../support/stdio-stand.ts';
import { openWireSession, type WireSession } from '../support/wire-session.ts';

afterAll(closeStands);

const odd = (...options: string[]) => node('test/fixtures/odd-stdio.ts', ...options);
const ALL = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
const isQuestion = ({ id, method }: Record<string, unknown>) =>
  id !== undefined && method !== undefined;

/** A client as the gateway is one: a session that is forgotten is opened anew and the call sent again, once. */
class Caller {
  readonly #url: string;
  readonly #capabilities: object;
  #session: WireSession | undefined;
  /** Sessions that it opened. */
  opened = 0;

  constructor({ url }: Stand, capabilities: object = {}) {
    this.#url = url;
    this.#capabilities = capabilities;
  }

  async #open(): Promise<WireSession> {
    this.opened += 1;
    return (this.#session = await openWireSession(this.#url, { ...this.#capabilities }));
  }

  /** Calls a tool and answers what it is asked. @returns the text of its result, or what was answered instead */
  async call(name: string, given = {}): Promise<string> {
    let session = this.#session ?? (await this.#open());
    let call = await session.call(name, given);
    if (call.status === 404) {
      session = await this.#open();
      call = await session.call(name, given);
    }
    const first = await call.heard('a message', () => true);
    if (isQuestion(first)) {
      await session.send({ id: first['id'], result: { roots: [{ uri: 'file:///mine' }] } });
    }
    await call.over;
    const last = call.messages().at(-1) as { result?: { content: { text: string }[] } };
    return last.result?.content[0]?.text ?? call.text();
  }

  pid = async () => Number(await this.call('pid'));
}

/** A program that has answered something, as one the gateway has looked at: what it asks before is of its start. */
async function openLooked(...given: Parameters<typeof openStand>): Promise<Stand> {
  const stand = await openStand(...given);
  await new Caller(stand, ALL).pid();
  return stand;
}

describe('a program that asks for roots where it was told of them', () => {
  it('[CLI-1] [MCP-4] asks who has them, and does without for who has none', async () => {
    const stand = await openLooked(odd());
    const [rich, plain, other] = [new Caller(stand, ALL), new Caller(stand), new Caller(stand)];
    expect(await rich.call('projects')).toContain('file:///mine');
    expect(await plain.call('projects')).toBe('in its own folder');
    expect(await other.call('projects')).toBe('in its own folder');
    expect([await plain.pid(), await rich.pid()]).toEqual([await other.pid(), pidOf(stand)]);
    expect(await plain.pid()).not.toBe(pidOf(stand));
    expect([rich.opened, plain.opened, other.opened]).toEqual([1, 2, 1]);
    await stand.close();
  });

  it('[CLI-1] [MCP-4] shows nothing by what it asks while it starts', async () => {
    const stand = await openStand(odd());
    expect(await new Caller(stand, ALL).call('projects')).toContain('file:///mine');
    const plain = new Caller(stand);
    expect([await plain.pid(), plain.opened]).toEqual([pidOf(stand), 1]);
    await stand.close();
  });

  it('[CLI-1] [MCP-4] asks nobody in vain twice: the first one without them lets it be known', async () => {
    const stand = await openLooked(odd());
    const plain = new Caller(stand);
    expect(await plain.call('projects')).toContain('The client does not support roots');
    expect(await plain.call('projects')).toBe('in its own folder');
    await stand.close();
  });

  it('[CLI-1] [MCP-4] is told for each kind of client what that has', async () => {
    const stand = await openLooked(odd());
    const [rich, forms] = [new Caller(stand, ALL), new Caller(stand, { elicitation: {} })];
    const roots = new Caller(stand, { roots: {} });
    await rich.call('projects');
    expect(await forms.call('projects')).toBe('in its own folder');
    expect(await roots.call('projects')).toContain('file:///mine');
    const shared = await roots.pid();
    expect(shared).toBe(pidOf(stand));
    // Only who lacks what was asked for is moved.
    await rich.call('ask', { method: 'elicitation/create', params: { message: 'Who?' } });
    expect(await roots.pid()).not.toBe(shared);
    expect(await rich.pid()).toBe(shared);
    expect(await forms.pid()).not.toBe(await roots.pid());
    await stand.close();
  });

  it('[CLI-1] [MCP-4] is one process for all where its entry says what it is told', async () => {
    const stand = await openLooked(odd(), { capabilities: ['roots'] });
    const [rich, plain] = [new Caller(stand, ALL), new Caller(stand)];
    await rich.call('projects');
    expect(await plain.call('projects')).toContain('The client does not support roots');
    expect(await plain.pid()).toBe(pidOf(stand));
    await stand.close();
  });

  it('[CLI-1] [MCP-4] serves all from the shared process where none starts for them', async () => {
    const stand = await openLooked(odd('--roots-only'), { limits: { backoffMs: 60_000 } });
    const [rich, plain] = [new Caller(stand, ALL), new Caller(stand)];
    await rich.call('projects');
    expect(await plain.pid()).toBe(pidOf(stand));
    expect(plain.opened).toBe(1);
    await stand.close();
  });

  it('[CLI-1] [MCP-4] has a bounded number of processes, of which the one used longest ago ends', async () => {
    const stand = await openLooked(odd(), { limits: { kinds: 1 } });
    const [rich, plain, forms] = [
      new Caller(stand, ALL),
      new Caller(stand),
      new Caller(stand, { elicitation: {} }),
    ];
    await rich.call('projects');
    const first = await plain.pid();
    expect(await forms.call('projects')).toBe('in its own folder');
    await until('it is gone', 60_000, () => isGone(first));
    expect(await plain.call('projects')).toBe('in its own folder');
    expect(await plain.pid()).not.toBe(first);
    await stand.close();
  });

  it('[CLI-1] [MCP-4] ends a process that nobody uses, and starts it again for who comes back', async () => {
    const stand = await openLooked(odd(), { limits: { kindIdleMs: 1_000 } });
    const [rich, plain] = [new Caller(stand, ALL), new Caller(stand)];
    await rich.call('projects');
    const first = await plain.pid();
    await until('it is gone', 60_000, () => isGone(first));
    const { opened } = plain;
    expect(await plain.call('projects')).toBe('in its own folder');
    expect(plain.opened).toBe(opened + 1);
    await stand.close();
  });

  it('[CLI-1] [MCP-4] ends with all its processes', async () => {
    const stand = await openLooked(odd());
    const [rich, plain] = [new Caller(stand, ALL), new Caller(stand)];
    await rich.call('projects');
    const pids = [await plain.pid(), pidOf(stand)];
    expect(new Set(pids).size).toBe(2);
    await stand.close();
    for (const pid of pids) expect(await isGone(pid)).toBe(true);
  });
});

describe('a program of both eras, as the 2.x SDK makes one', () => {
  const both = node('test/fixtures/conformance-stdio.ts');
  const eraOf = async (stand: Stand) =>
    (await stand.reached('ready', ({ state }) => state === 'ready')).era;

  it('[CLI-1] [MCP-5] is started in the modern one', async () => {
    const stand = await openStand(both);
    expect(await eraOf(stand)).toBe('modern');
    await stand.close();
  });

  it('[CLI-1] [MCP-5] asks its clients where its entry says that it is spoken to in the legacy one', async () => {
    const stand = await openStand(both, { era: 'legacy' });
    expect(await eraOf(stand)).toBe('legacy');
    const session = await openWireSession(stand.url, { ...ALL });
    const call = await session.call('test_elicitation', { message: 'Who?' });
    const question = await call.heard('a question', isQuestion);
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } });
    const answer = { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
    await session.send({ id: question['id'], result: answer });
    await call.over;
    expect(call.text()).toContain('ada');
    await stand.close();
  });
});
