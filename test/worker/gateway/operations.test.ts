/**
 * What each kind of request asks of stores and objects, with default settings, and how often it waits for them in sequence. Only requests
 * of the Worker are counted: the ledger of `npm run bench:edge` has those of objects.
 *
 * A number here becomes larger only with a reason in its commit: every request pays for it, or waits for it.
 */
import { expect, it, onTestFinished, vi } from 'vitest';
import { RequestTimers } from '../../../src/http/deadline.ts';
import { answersOf, callModern, connectAsking } from '../support/asking-clients.ts';
import { resultOf } from '../support/fake-server.ts';
import { connect, type Era } from '../support/live-calls.ts';
import { ask, createPortico, initialize, inSession, type Portico } from '../support/portico.ts';
import { GATHER, holdGathering } from '../support/held-gathering.ts';
import { createRemote, type Remote } from '../support/remote.ts';

const REQUESTS = 4;
const PAUSE_MS = 3_000;

/** Requests of one kind, each made like the one before. */
interface Requests {
  make(): Promise<unknown>;
  hasLeft(): boolean;
}

type Prepare = (portico: () => Portico) => Promise<Requests>;

const callOf =
  (client: Era, era: Era): Prepare =>
  async portico => {
    const { name, server } = await connect(era, era === 'legacy', portico());
    let calls = 0;
    server.call = received => {
      calls += 1;
      return resultOf(received, { resultType: 'complete', content: [] });
    };
    const session = client === 'legacy' ? inSession(await initialize(portico())) : {};
    let made = 0;
    return {
      async make() {
        made += 1;
        const { message, headers } = ask(client, 'tools/call', { name: `${name}.echo` }, made);
        const response = await portico().post(message, { headers: { ...headers, ...session } });
        expect(await response.json()).toMatchObject({ result: { content: [] } });
      },
      hasLeft: () => calls === made,
    };
  };

/** Prepares a list or a search. */
const answeredHere =
  (make: (portico: Portico) => Promise<Response>): Prepare =>
  async portico => {
    await connect('modern', false, portico());
    return {
      async make() {
        const response = await make(portico());
        expect(response.status).toBe(200);
        await response.text();
      },
      hasLeft: () => false,
    };
  };

const list = answeredHere(portico => {
  const { message, headers } = ask('modern', 'tools/list');
  return portico.post(message, { headers });
});
const search = answeredHere(portico => portico.api('POST', '/api/v1/search', { query: 'echo' }));

/** Prepares a call with a server request to its client, and the retry that answers it. */
const asking =
  (kind: 'http-modern' | 'http-legacy'): Prepare =>
  async portico => {
    const { name, server } = await connectAsking(portico(), kind);
    let made = 0;
    return {
      async make() {
        made += 1;
        const plan = { mark: `m${made}`, rounds: 1 };
        const { questions, state } = await callModern(portico(), name, plan);
        const responses = answersOf(questions, 'ada');
        const { answer } = await callModern(portico(), name, plan, { state, responses });
        expect(answer.result?.content).toHaveLength(1);
      },
      hasLeft: () => server.call(`m${made}`) !== undefined,
    };
  };

/** Counts for this many requests together. */
type Counts = Record<string, number>;

/** What is sent once for all gathered calls. */
const CHUNK: Counts = { 'd1.trips': 1, 'd1.rowsWritten': 1, 'd1.rowsRead': 2 };
const TOLD: Counts = { ...CHUNK, 'ServerMonitor.requests': 1 };
const NONE = { before: 0, after: 0 };

interface Case {
  kind: string;
  prepare: Prepare;
  hops: { before: number; after: number };
  counts: Counts;
}

const WARM: readonly Case[] = [
  ...(['modern', 'legacy'] as const).flatMap(client =>
    (['modern', 'legacy'] as const).map(era => ({
      kind: `a ${client} client's call at a ${era} server`,
      prepare: callOf(client, era),
      hops: NONE,
      counts: TOLD,
    })),
  ),
  { kind: 'a list', prepare: list, hops: NONE, counts: {} },
  { kind: 'a search', prepare: search, hops: NONE, counts: {} },
  {
    kind: 'a question of a modern server',
    prepare: asking('http-modern'),
    hops: NONE,
    counts: TOLD,
  },
  {
    kind: 'a question of a legacy server to a modern client',
    prepare: asking('http-legacy'),
    // The object makes the call, and is asked once for each retry.
    hops: { before: 0, after: 2 },
    counts: { ...TOLD, 'ClientSession.requests': 2 * REQUESTS },
  },
];

/** The counts above their maximum. */
function above(counts: Counts, most: Counts): Counts {
  const entries = Object.entries(counts).filter(([name, n]) => n > (most[name] ?? 0));
  return Object.fromEntries(entries);
}

async function measure(
  remote: Remote,
  portico: Portico,
  { make, hasLeft }: Requests,
  before: () => void,
  settle: (portico: Portico) => Promise<void>,
) {
  await make();
  await settle(portico);
  before();
  const hops = await remote.countHops(make, hasLeft);
  await settle(portico);
  remote.ledger.reset();
  for (let n = 0; n < REQUESTS; n += 1) {
    before();
    await make();
  }
  await settle(portico);
  return { hops, counts: { ...remote.ledger.counts } };
}

function stopTime(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  // A busy machine must not turn a short call into a long one.
  vi.spyOn(RequestTimers.prototype, 'set').mockReturnValue(() => {});
}

it.each(WARM)('[EDGE-1] [EDGE-2] counts the cost of $kind', async ({ prepare, hops, counts }) => {
  const remote = createRemote(GATHER);
  const portico = createPortico(remote.bindings);
  const settle = holdGathering();
  const requests = await prepare(() => portico);
  stopTime();
  const measured = await measure(remote, portico, requests, () => {}, settle);
  expect(measured.hops).toEqual(hops);
  expect(above(measured.counts, counts)).toEqual({});
});

it.each(['modern', 'legacy'] as const)(
  '[EDGE-1] waits for one read in a %s call after a pause',
  async era => {
    const remote = createRemote(GATHER);
    const portico = createPortico(remote.bindings);
    const settle = holdGathering();
    const requests = await callOf(era, era)(() => portico);
    stopTime();
    const pass = () => void vi.setSystemTime(Date.now() + PAUSE_MS);
    const { hops } = await measure(remote, portico, requests, pass, settle);
    expect(hops).toEqual({ before: 1, after: 0 });
  },
);

it.each([
  ['modern', 2],
  // The caller, the catalog, and the session at the server with its stream.
  ['legacy', 4],
] as const)('[EDGE-1] waits in a %s call on a new isolate %i times at most', async (era, most) => {
  const remote = createRemote(GATHER);
  const made: Portico[] = [];
  const settle = holdGathering();
  const newest = () => made.at(-1) ?? createPortico(remote.bindings);
  made.push(createPortico(remote.bindings));
  const requests = await callOf(era, era)(newest);
  stopTime();
  const forget = () => void made.push(createPortico(remote.bindings));
  await requests.make();
  forget();
  const hops = await remote.countHops(requests.make, requests.hasLeft);
  for (const portico of made) await settle(portico);
  expect(hops.before).toBeLessThanOrEqual(most);
  expect(hops.after).toBe(0);
});

it('[EDGE-1] detects an added read', async () => {
  const remote = createRemote();
  const { DB, CALL_CHAIN } = remote.bindings;
  const read = () => DB.prepare('SELECT 1').first();
  const together = () => Promise.all([read(), CALL_CHAIN.getByName('x').wake()]);
  let hasLeft = false;
  const make = async () => {
    await together();
    await read();
    hasLeft = true;
    await read();
  };
  expect(await remote.countHops(make, () => hasLeft)).toEqual({ before: 2, after: 1 });
  expect(above(remote.ledger.counts, { 'd1.trips': 3 })).toMatchObject({
    'CallChain.requests': 1,
  });
});
