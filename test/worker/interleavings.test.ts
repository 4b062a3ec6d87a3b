/**
 * Random interleavings of calls, questions, answers, meddling, cancellations and lost memory, held against the model of
 * `session-model.ts`: each call has exactly one outcome, and no answer reaches another client or another call. All clients use
 * the same JSON-RPC ids. A failure names its seed; PORTICO_TEST_SEED replays that one interleaving.
 */
import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { SealedIds } from '../../src/session/sealed-id.ts';
import { createKeyRing } from '../../src/secrets/key-ring.ts';
import { askableKey, askableOf } from '../../src/session/askable.ts';
import { principalOwner, sessionOwner } from '../../src/session/sessions.ts';
import { createRandom, SEED } from '../unit/seeded.ts';
import {
  ASKABLE,
  callLegacy,
  callModern,
  connectAsking,
  giveAnswer,
  openSession,
  reasonOf,
  toldBy,
  type Connected,
  type LegacyCall,
  type Question,
  type Round,
} from './asking-clients.ts';
import { answerTo, KINDS, type Kind, type Plan } from './asking-server.ts';
import { loseMemory } from './lose-memory.ts';
import { createPortico, createToken, type RpcAnswer } from './portico.ts';
import {
  isModern,
  SessionModel,
  type CallSpec,
  type ClientName,
  type ModelCall,
  type Step,
} from './session-model.ts';

const INTERLEAVINGS = 1_000;
const LANES = 8;
const BATCHES = 6;
const soon = { timeout: 10_000, interval: 2 };
/** One id for all: equal ids of two clients, or of two calls, must never meet. */
const ID = 1;

const portico = createPortico();
const servers = {} as Record<Kind, Connected>;

interface Person {
  token: string;
  session: string;
  /** Name of the object that makes its calls to a server. */
  objectAt(serverId: string): string;
}

type People = Record<ClientName, Person>;

/** Two sessions of one principal, and two principals without a session. */
async function openPeople(): Promise<People> {
  const sealed = new SealedIds(createKeyRing(env.PORTICO_KEYS));
  const { token } = await createToken(portico);
  const inSession = async (): Promise<Person> => {
    const session = await openSession(portico, { token });
    const owner = sessionOwner((await sealed.open(session))?.id ?? '');
    return { token, session, objectAt: () => owner };
  };
  const alone = async (): Promise<Person> => {
    const created = await createToken(portico);
    const row = env.DB.prepare('SELECT principal_id AS id FROM tokens WHERE id = ?');
    const principal = await row.bind(created.id).first<{ id: string }>();
    const key = askableKey(askableOf(ASKABLE));
    const objectAt = (serverId: string) => principalOwner(principal?.id ?? '', serverId, key);
    return { token: created.token, session: '', objectAt };
  };
  return {
    'legacy-1': await inSession(),
    'legacy-2': await inSession(),
    'modern-1': await alone(),
    'modern-2': await alone(),
  };
}

/** A call as its client has it. */
interface Held {
  plan: Plan;
  legacy?: LegacyCall;
  round?: Round;
  going?: AbortController;
}

/** One interleaving at the real thing. */
class Interleaving {
  readonly model = new SessionModel();
  readonly #mark: string;
  readonly #people: People;
  readonly #held: Held[] = [];
  /** What legacy clients decided to answer, and the questions they have answered, by key. */
  readonly #decided = new Map<string, CallSpec>();
  readonly #answered = new Set<string>();

  constructor(seed: number, people: People) {
    this.#mark = String(seed);
    this.#people = people;
  }

  async take(steps: readonly Step[]): Promise<void> {
    for (const step of steps) this.model.apply(step);
    await Promise.all(steps.map(step => this.#take(step)));
    for (const call of this.model.calls) await this.#check(call);
  }

  #take(step: Step): Promise<void> | void {
    if (step.do === 'call') return this.#call(step.spec);
    if (step.do === 'evict') return this.#evict(step.client, step.kind);
    const { spec } = this.model.at(step.call);
    const held = this.#at(step.call);
    if (step.do === 'drop') return (held.legacy ?? { drop: () => held.going?.abort() }).drop();
    if (step.do === 'return') return this.#resume(spec, held, {});
    if (step.do === 'meddle') return this.#meddle(spec, held, step.client);
    if (step.do === 'repeat') {
      return this.#repeat(spec, this.#message(spec, step.question));
    }
    if (!isModern(spec.client)) {
      for (const question of step.questions) {
        this.#decided.set(this.#message(spec, question), spec);
      }
      return this.#answerLegacy();
    }
    const messages = step.questions.map(question => this.#message(spec, question));
    const given = held.round?.questions.filter(({ params }) => messages.includes(params.message));
    expect(given?.length).toBe(messages.length);
    return this.#resume(spec, held, toResponses(given ?? [], spec.client));
  }

  async #call(spec: CallSpec): Promise<void> {
    const { number, client, kind, rounds, together, hang } = spec;
    const plan = { mark: `${this.#mark}.${number}`, rounds, together, hang };
    const held: Held = { plan };
    this.#held[number] = held;
    const { token, session } = this.#people[client];
    if (isModern(client)) return this.#go(spec, held, {});
    held.legacy = callLegacy(portico, servers[kind].name, plan, { token, session, id: ID });
  }

  #resume(spec: CallSpec, held: Held, responses: object): Promise<void> {
    return this.#go(spec, held, { state: held.round?.state, responses });
  }

  /** A request of a modern client; one that will never be answered is left going. */
  async #go(spec: CallSpec, held: Held, more: object): Promise<void> {
    const going = new AbortController();
    held.going = going;
    const { token } = this.#people[spec.client];
    const sent = { token, id: ID, signal: going.signal, ...more };
    const asking = callModern(portico, servers[spec.kind].name, held.plan, sent);
    if (this.model.at(spec.number).phase === 'running') asking.catch(() => undefined);
    else held.round = await asking;
  }

  /**
   * Legacy clients answer what they decided to, each time they are asked: a question of HTTP+SSE may come on the stream of
   * another call of the session, and comes again when that one ends.
   */
  async #answerLegacy(): Promise<void> {
    for (const [message, { client }] of this.#decided) {
      const { token, session } = this.#people[client];
      for (const { key } of this.#asked(client, message)) {
        if (this.#answered.has(key)) continue;
        this.#answered.add(key);
        const answer = answerTo(message, client);
        expect(await giveAnswer(portico, session, key, answer, token)).toBe(202);
      }
    }
  }

  /** An answer to what has been answered, which changes nothing. */
  async #repeat({ client }: CallSpec, message: string): Promise<void> {
    const { token, session } = this.#people[client];
    for (const { key } of this.#asked(client, message)) {
      const wrong = answerTo('again', 'again');
      if (!this.#answered.has(key)) continue;
      expect(await giveAnswer(portico, session, key, wrong, token)).toBe(202);
    }
  }

  /** Another client does what only this one may. */
  async #meddle(spec: CallSpec, held: Held, meddler: ClientName): Promise<void> {
    const { token, session } = this.#people[meddler];
    const wrong = answerTo('meddled', meddler);
    if (isModern(meddler)) {
      const { questions = [], state } = held.round ?? {};
      const responses = Object.fromEntries(questions.map(({ key }) => [key, wrong]));
      const sent = { token, id: ID, state, responses };
      const { answer } = await callModern(portico, servers[spec.kind].name, held.plan, sent);
      expect(answer.error?.code).toBe(-32602);
      return;
    }
    for (const { key } of held.legacy?.questions ?? []) {
      expect(await giveAnswer(portico, session, key, wrong, token)).toBe(202);
    }
  }

  /** Memory is lost: at once where a call is parked in it, else as an object falls asleep. */
  async #evict(client: ClientName, kind: Kind): Promise<void> {
    const owner = this.#people[client].objectAt(servers[kind].id);
    const object = env.CLIENT_SESSION.getByName(owner);
    if (client !== 'legacy-1') await loseMemory(object);
    // An object that does not run has no memory to lose.
    else await evictDurableObject(object).catch(() => undefined);
  }

  async #check(call: ModelCall): Promise<void> {
    const { spec, phase } = call;
    const held = this.#at(spec.number);
    const { mark } = held.plan;
    const seen = () => servers[spec.kind].server.call(mark);
    const open = this.model.open(call).map(question => this.#message(spec, question));
    if (phase === 'asked' && isModern(spec.client)) {
      expect(held.round?.questions.map(({ params }) => params.message)).toEqual(open);
    } else if (phase === 'asked') {
      await this.#until(() => {
        const missing = open.filter(message => this.#asked(spec.client, message).length === 0);
        expect(missing).toEqual([]);
      });
      expect(held.legacy?.isOver()).toBe(false);
    } else if (phase === 'result') {
      if (held.legacy) await this.#until(() => expect(held.legacy?.isOver()).toBe(true));
      this.#checkResult(spec, (await held.legacy?.outcome) ?? held.round?.answer);
      expect(seen()?.cancelled).toBe(false);
    } else if (phase === 'running') {
      await this.#until(() => expect(seen()?.answers.length).toBe(spec.rounds * spec.together));
    }
    if (seen()) expect(seen()?.arrivals).toBe(this.#arrivals(call));
  }

  /** Waits; legacy clients answer meanwhile. */
  #until(probe: () => void): Promise<void> {
    return vi.waitFor(async () => {
      await this.#answerLegacy();
      probe();
    }, soon);
  }

  /** The answers of its own client, each once, in order, and under its own id. */
  #checkResult(spec: CallSpec, answer: RpcAnswer | undefined): void {
    if (!answer) throw new Error('no response');
    expect(answer.id).toBe(ID);
    const { mark, answers } = toldBy(answer);
    const expected = Array.from({ length: spec.rounds * spec.together }, (_, question) =>
      answerTo(this.#message(spec, question), spec.client),
    );
    expect(mark).toBe(this.#at(spec.number).plan.mark);
    expect(answers.map(given => (given as { result: unknown }).result)).toEqual(expected);
  }

  /** What must be so when all calls have ended. */
  async conclude(): Promise<void> {
    for (const call of this.model.calls) {
      const { spec, phase } = call;
      const held = this.#at(spec.number);
      const seen = servers[spec.kind].server.call(held.plan.mark);
      if (phase === 'gone') {
        const { state, questions = [] } = held.round ?? {};
        const responses = toResponses(questions, spec.client);
        const { token } = this.#people[spec.client];
        const name = servers[spec.kind].name;
        const { answer } = await callModern(portico, name, held.plan, { token, state, responses });
        expect(reasonOf(answer)).toBe('call_gone');
        expect(seen).toMatchObject({ arrivals: 1, done: false });
      } else if (phase === 'cancelled') {
        await held.legacy?.outcome;
        const isAsked = call.given.size < spec.rounds * spec.together;
        if (spec.kind !== 'http-modern' || !isAsked) {
          await vi.waitFor(() => expect(seen?.cancelled || seen?.cut).toBe(true), soon);
        }
        expect(seen?.done ?? false).toBe(false);
      }
    }
  }

  /** A modern server is called once more for each round. */
  #arrivals({ spec, given }: ModelCall): number {
    if (spec.kind !== 'http-modern') return 1;
    return 1 + Math.floor(given.size / spec.together);
  }

  #message = (spec: CallSpec, question: number) => `${this.#mark}.${spec.number}#${question}`;

  /** Each time a legacy client was asked a question. */
  #asked(client: ClientName, message: string): Question[] {
    return this.#held
      .filter((held, number) => held && this.model.at(number).spec.client === client)
      .flatMap(({ legacy }) => legacy?.questions ?? [])
      .filter(({ params }) => params.message === message);
  }

  #at(number: number): Held {
    const held = this.#held[number];
    if (!held) throw new Error(`call ${number} has not begun`);
    return held;
  }
}

const toResponses = (questions: readonly Question[], who: string) =>
  Object.fromEntries(questions.map(({ key, params }) => [key, answerTo(params.message, who)]));

/** Runs the interleaving of a seed. */
async function run(seed: number, people: People): Promise<void> {
  const random = createRandom(seed);
  const interleaving = new Interleaving(seed, people);
  const taken: Step[][] = [];
  try {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const steps = interleaving.model.draw(random);
      taken.push(steps);
      await interleaving.take(steps);
    }
    for (;;) {
      const step = interleaving.model.finish();
      if (!step) break;
      taken.push([step]);
      await interleaving.take([step]);
    }
    await interleaving.conclude();
  } catch (cause) {
    const script = taken.map(steps => JSON.stringify(steps)).join('\n');
    throw new Error(`PORTICO_TEST_SEED=${seed} replays:\n${script}\n${String(cause)}`, { cause });
  }
}

const isReplay = process.env['PORTICO_TEST_SEED'] !== undefined;
const count = isReplay ? 1 : INTERLEAVINGS;

it(`[MCP-4] [MCP-5] [MCP-10] [UP-2] [UP-3] ${count} interleavings from seed ${SEED}`, async () => {
  for (const kind of KINDS) servers[kind] = await connectAsking(portico, kind);
  const seeds = Array.from({ length: count }, (_, i) => SEED + i);
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const people = await openPeople();
      for (const seed of seeds.filter((_seed, i) => i % LANES === lane)) {
        await run(seed, people);
      }
    }),
  );
  for (const kind of KINDS) expect([kind, servers[kind].server.stray]).toEqual([kind, []]);
}, 120_000);
