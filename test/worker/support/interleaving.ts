/**
 * One interleaving at the real gateway: takes the steps that the model takes, and checks after each batch that clients and servers see what
 * the model says.
 */
import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import {
  callLegacy,
  callModern,
  connectAsking,
  giveAnswer,
  reasonOf,
  toldBy,
  type Connected,
  type LegacyCall,
  type Question,
  type Round,
} from './asking-clients.ts';
import { answerTo, KINDS, type Kind, type Plan } from './asking-script.ts';
import { loseMemory } from './lose-memory.ts';
import type { People } from './interleaving-clients.ts';
import { createPortico, type RpcAnswer } from './portico.ts';
import {
  isModern,
  SessionModel,
  type CallSpec,
  type ClientName,
  type ModelCall,
  type Step,
} from './session-model.ts';

/** The timeout of every wait. */
const PATIENCE_MS = 20_000;
/** One id for all: equal ids of two clients, or of two calls, must never be confused. */
const ID = 1;

/** Objects are asked for their streams before each call, since they may just have lost their memory. */
export const portico = createPortico({ PORTICO_STANDING_STREAM_MS: '1' });
const servers = {} as Record<Kind, Connected>;

/** Connects the servers of all interleavings. */
export async function connectServers(): Promise<void> {
  for (const kind of KINDS) servers[kind] = await connectAsking(portico, kind);
}

/** Answers that reached a server and belonged to nothing there. */
export const strayAnswers = () => KINDS.flatMap(kind => servers[kind].server.stray);

/** A call as its client holds it. */
interface Held {
  plan: Plan;
  legacy?: LegacyCall;
  round?: Round;
  going?: AbortController;
}

const same = (actual: unknown, wanted: unknown) => expect(actual).toEqual(wanted);
const alike = (actual: unknown, wanted: object) => expect(actual).toMatchObject(wanted);

const takenOrRefused = (status: number) => expect([202, 400]).toContain(status);

/** One interleaving at the real gateway. */
export class Interleaving {
  readonly model = new SessionModel();
  readonly #mark: string;
  readonly #people: People;
  readonly #held: Held[] = [];
  /** The answers that legacy clients decided on, and the server requests that they have answered, by key. */
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
    same(given?.length, messages.length);
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

  /** A request of a modern client; one that will never be answered is left running. */
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
   * Legacy clients give their decided answers each time they are asked: a server request of HTTP+SSE may come on the stream of another call
   * of the session, and comes again when that one ends.
   */
  async #answerLegacy(): Promise<void> {
    for (const [message, { client }] of this.#decided) {
      const { token, session } = this.#people[client];
      for (const { key } of this.#asked(client, message)) {
        if (this.#answered.has(key)) continue;
        this.#answered.add(key);
        const answer = answerTo(message, client);
        // Refused if the call that was asked has ended: then the server request comes again, or is moot.
        takenOrRefused(await giveAnswer(portico, session, key, answer, token));
      }
    }
  }

  /** A second answer to an answered server request, which changes nothing. */
  async #repeat({ client }: CallSpec, message: string): Promise<void> {
    const { token, session } = this.#people[client];
    for (const { key } of this.#asked(client, message)) {
      const wrong = answerTo('again', 'again');
      if (!this.#answered.has(key)) continue;
      takenOrRefused(await giveAnswer(portico, session, key, wrong, token));
    }
  }

  /** Another client tries what only this one may. */
  async #meddle(spec: CallSpec, held: Held, meddler: ClientName): Promise<void> {
    const { token, session } = this.#people[meddler];
    const wrong = answerTo('meddled', meddler);
    if (isModern(meddler)) {
      const { questions = [], state } = held.round ?? {};
      const responses = Object.fromEntries(questions.map(({ key }) => [key, wrong]));
      const sent = { token, id: ID, state, responses };
      const { answer } = await callModern(portico, servers[spec.kind].name, held.plan, sent);
      same(answer.error?.code, -32602);
      return;
    }
    for (const { key } of held.legacy?.questions ?? []) {
      same(await giveAnswer(portico, session, key, wrong, token), 400);
    }
  }

  /** Memory is lost: at once if a call is suspended in it, else as an object falls asleep. */
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
      same(
        held.round?.questions.map(({ params }) => params.message),
        open,
      );
    } else if (phase === 'asked') {
      const isMissing = (message: string) => this.#asked(spec.client, message).length === 0;
      const told = () => JSON.stringify([held.legacy, seen()]);
      await this.#until(
        () => `${mark} is asked: ${told()}`,
        () => !open.some(isMissing),
      );
      same(held.legacy?.isOver(), false);
    } else if (phase === 'result') {
      await this.#until(
        () => `${mark} is over`,
        () => held.legacy?.isOver() ?? true,
      );
      this.#checkResult(spec, (await held.legacy?.outcome) ?? held.round?.answer);
      same(seen()?.cancelled, false);
    } else if (phase === 'running') {
      const all = spec.rounds * spec.together;
      await this.#until(
        () => `${mark} runs`,
        () => seen()?.answers.length === all,
      );
    }
    if (seen()) same(seen()?.arrivals, this.#arrivals(call));
  }

  /** Waits while legacy clients answer. Polls often, so the condition must be cheap. */
  async #until(what: () => string, isSo: () => boolean): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; !isSo();) {
      if (Date.now() > end) throw new Error(`not within ${PATIENCE_MS} ms: ${what()}`);
      await this.#answerLegacy();
      await new Promise(resolve => setTimeout(resolve, 5));
    }
  }

  /** The result contains the answers of its own client, each once, in order, and has its own id. */
  #checkResult(spec: CallSpec, answer: RpcAnswer | undefined): void {
    if (!answer) throw new Error('no response');
    same(answer.id, ID);
    const { mark, answers } = toldBy(answer);
    const expected = Array.from({ length: spec.rounds * spec.together }, (_, question) =>
      answerTo(this.#message(spec, question), spec.client),
    );
    same(mark, this.#at(spec.number).plan.mark);
    same(
      answers.map(given => (given as { result: unknown }).result),
      expected,
    );
  }

  /** Checks what must hold when all calls have ended. */
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
        same(reasonOf(answer), 'call_gone');
        alike(seen, { arrivals: 1, done: false });
      } else if (phase === 'cancelled') {
        await held.legacy?.outcome;
        const isAsked = call.given.size < spec.rounds * spec.together;
        if (spec.kind !== 'http-modern' || !isAsked) {
          await this.#until(
            () => 'it is cancelled',
            () => (seen?.cancelled || seen?.cut) ?? false,
          );
        }
        same(seen?.done ?? false, false);
      }
    }
  }

  /** A modern server is called once more for each round. */
  #arrivals({ spec, given }: ModelCall): number {
    if (spec.kind !== 'http-modern') return 1;
    return 1 + Math.floor(given.size / spec.together);
  }

  #message = (spec: CallSpec, question: number) => `${this.#mark}.${spec.number}#${question}`;

  /** All server requests with this message that a legacy client got. */
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
