/**
 * A program that asks for a capability that its client declared: clients that have it are asked; the others get the answer without, from a
 * process that was started with their capabilities.
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

/** A client like the gateway: it reopens a forgotten session and sends the call again, once. */
class Caller {
  readonly #url: string;
  readonly #capabilities: object;
  #session: WireSession | undefined;
  /** How many sessions it opened. */
  opened = 0;

  constructor({ url }: Stand, capabilities: object = {}) {
    this.#url = url;
    this.#capabilities = capabilities;
  }

  async #open(): Promise<WireSession> {
    this.opened += 1;
    return (this.#session = await openWireSession(this.#url, { ...this.#capabilities }));
  }

  /** Calls a tool and answers its questions. @returns the text of its result, or the error instead */
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

/** Opens a program that has answered a request, like one that the gateway has discovered: questions before that belong to its start. */
async function openLooked(...given: Parameters<typeof openStand>): Promise<Stand> {
  const stand = await openStand(...given);
  await new Caller(stand, ALL).pid();
  return stand;
}

describe('a program that asks for roots if its client has them', () => {
  it('[CLI-1] [MCP-4] asks clients with roots, and works without them for clients without', async () => {
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

  it('[CLI-1] [MCP-4] may ask while it starts without getting a second process', async () => {
    const stand = await openStand(odd());
    expect(await new Caller(stand, ALL).call('projects')).toContain('file:///mine');
    const plain = new Caller(stand);
    expect([await plain.pid(), plain.opened]).toEqual([pidOf(stand), 1]);
    await stand.close();
  });

  it('[CLI-1] [MCP-4] asks in vain only once: the first client without roots reveals it', async () => {
    const stand = await openLooked(odd());
    const plain = new Caller(stand);
    expect(await plain.call('projects')).toContain('The client does not support roots');
    expect(await plain.call('projects')).toBe('in its own folder');
    await stand.close();
  });

  it('[CLI-1] [MCP-4] gets the capabilities of each kind of client', async () => {
    const stand = await openLooked(odd());
    const [rich, forms] = [new Caller(stand, ALL), new Caller(stand, { elicitation: {} })];
    const roots = new Caller(stand, { roots: {} });
    await rich.call('projects');
    expect(await forms.call('projects')).toBe('in its own folder');
    expect(await roots.call('projects')).toContain('file:///mine');
    const shared = await roots.pid();
    expect(shared).toBe(pidOf(stand));
    // Only clients without the requested capability are moved.
    await rich.call('ask', { method: 'elicitation/create', params: { message: 'Who?' } });
    expect(await roots.pid()).not.toBe(shared);
    expect(await rich.pid()).toBe(shared);
    expect(await forms.pid()).not.toBe(await roots.pid());
    await stand.close();
  });

  it('[CLI-1] [MCP-4] is one process for all clients if its entry sets the capabilities', async () => {
    const stand = await openLooked(odd(), { capabilities: ['roots'] });
    const [rich, plain] = [new Caller(stand, ALL), new Caller(stand)];
    await rich.call('projects');
    expect(await plain.call('projects')).toContain('The client does not support roots');
    expect(await plain.pid()).toBe(pidOf(stand));
    await stand.close();
  });

  it('[CLI-1] [MCP-4] serves all clients from the shared process if no other process starts', async () => {
    const stand = await openLooked(odd('--roots-only'), { limits: { backoffMs: 60_000 } });
    const [rich, plain] = [new Caller(stand, ALL), new Caller(stand)];
    await rich.call('projects');
    expect(await plain.pid()).toBe(pidOf(stand));
    expect(plain.opened).toBe(1);
    await stand.close();
  });

  it('[CLI-1] [MCP-4] has a limited number of processes; the least recently used one ends', async () => {
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

  it('[CLI-1] [MCP-4] ends an unused process, and starts it again for a returning client', async () => {
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

  it('[CLI-1] [MCP-5] is started in the modern era', async () => {
    const stand = await openStand(both);
    expect(await eraOf(stand)).toBe('modern');
    await stand.close();
  });

  it('[CLI-1] [MCP-5] asks its clients if its entry sets the legacy era', async () => {
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
