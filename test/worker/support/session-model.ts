/**
 * A model of calls with server requests, small enough to be right: which of them a client sees, what an answer changes, and the one outcome
 * of each call. Pure; the steps are drawn from a seed. `interleavings.test.ts` compares the gateway with it.
 */
import type { Random } from '../../unit/seeded.ts';
import { KINDS, type Kind } from './asking-script.ts';

/**
 * Clients of an interleaving, and how each is asked. The object of `legacy-1` holds no connection to a server, so that it can sleep while
 * its client is asked; that of `legacy-2` loses its memory only between calls.
 */
export const CLIENTS = ['legacy-1', 'legacy-2', 'modern-1', 'modern-2'] as const;
export type ClientName = (typeof CLIENTS)[number];
export const isModern = (client: ClientName) => client.startsWith('modern');

/** The phase of a call: `running` and `asked` are no outcomes, all others are final. */
export type Phase = 'asked' | 'running' | 'result' | 'gone' | 'cancelled';

export interface CallSpec {
  /** Number of the call in its interleaving. */
  number: number;
  client: ClientName;
  kind: Kind;
  rounds: number;
  together: number;
  /** The server never answers after its last request. */
  hang: boolean;
}

export type Step =
  | { do: 'call'; spec: CallSpec }
  /** Answer these server requests. */
  | { do: 'answer'; call: number; questions: number[] }
  /** Answer an already answered server request again. */
  | { do: 'repeat'; call: number; question: number }
  /** Another client gives the answer, or uses the state. */
  | { do: 'meddle'; call: number; client: ClientName }
  /** A modern client retries without an answer. */
  | { do: 'return'; call: number }
  | { do: 'drop'; call: number }
  /** The client's object at a server loses its memory. */
  | { do: 'evict'; client: ClientName; kind: Kind };

export interface ModelCall {
  spec: CallSpec;
  phase: Phase;
  /** For a legacy client's round: which of its server requests have answers. */
  given: Set<number>;
}

const MAX_CALLS = 4;
/** The requests of these servers arrive on a connection that the client's object holds. */
const HOLDING: ReadonlySet<Kind> = new Set(['sse-legacy', 'http-standing']);

export class SessionModel {
  readonly calls: ModelCall[] = [];

  /** Server requests that the client of a call must currently see, in order. */
  open({ spec, phase, given }: ModelCall): number[] {
    if (phase !== 'asked') return [];
    const round = Math.floor(this.#settled(given, spec) / spec.together);
    const all = Array.from({ length: spec.together }, (_, i) => round * spec.together + i);
    return all.filter(question => !given.has(question));
  }

  /** Applies a step. */
  apply(step: Step): void {
    if (step.do === 'call') {
      const call: ModelCall = { spec: step.spec, phase: 'asked', given: new Set() };
      this.calls.push(call);
      this.#goOn(call);
    } else if (step.do === 'evict') {
      for (const call of this.calls) {
        const { client, kind } = call.spec;
        if (client === step.client && kind === step.kind && this.#isParked(call))
          call.phase = 'gone';
      }
    } else if (step.do === 'answer') {
      const call = this.at(step.call);
      for (const question of step.questions) call.given.add(question);
      this.#goOn(call);
    } else if (step.do === 'drop') {
      this.at(step.call).phase = 'cancelled';
    }
  }

  at(number: number): ModelCall {
    const call = this.calls[number];
    if (!call) throw new Error(`no call ${number}`);
    return call;
  }

  /** Steps that may happen now and concern different calls, so that they may be concurrent. */
  draw(random: Random): Step[] {
    if (random.chance(0.12)) {
      const evictions = this.#evictions();
      if (evictions.length > 0) return [random.pick(evictions)];
    }
    const size = 1 + random.below(3);
    const steps: Step[] = [];
    const taken = new Set<number>();
    let begun = this.calls.length;
    for (let i = 0; i < size; i += 1) {
      const live = this.calls.filter(
        call => !taken.has(call.spec.number) && ['asked', 'running'].includes(call.phase),
      );
      if (begun < MAX_CALLS && (live.length === 0 || random.chance(0.4))) {
        steps.push({ do: 'call', spec: drawSpec(random, begun) });
        begun += 1;
      } else if (live.length > 0) {
        const call = random.pick(live);
        taken.add(call.spec.number);
        steps.push(this.#drawFor(call, random));
      }
    }
    return steps;
  }

  /** A step that brings the first open call nearer to its end, or undefined if all have ended. */
  finish(): Step | undefined {
    const call = this.calls.find(({ phase }) => phase === 'asked' || phase === 'running');
    if (!call) return undefined;
    const { number } = call.spec;
    if (call.phase === 'running') return { do: 'drop', call: number };
    return { do: 'answer', call: number, questions: this.open(call) };
  }

  #drawFor(call: ModelCall, random: Random): Step {
    const { number, client, kind } = call.spec;
    const open = this.open(call);
    if (call.phase === 'running') return { do: 'drop', call: number };
    const others = CLIENTS.filter(name => name !== client && isModern(name) === isModern(client));
    const roll = random.next();
    if (roll < 0.1) return { do: 'meddle', call: number, client: random.pick(others) };
    if (roll < 0.2 && !isModern(client)) return { do: 'drop', call: number };
    if (roll < 0.2 && kind !== 'http-modern') return { do: 'return', call: number };
    const given = [...call.given];
    if (roll < 0.3 && given.length > 0 && !isModern(client)) {
      return { do: 'repeat', call: number, question: random.pick(given) };
    }
    // A modern server gets all answers of a round at once.
    const questions = isModern(client) && kind === 'http-modern' ? open : [random.pick(open)];
    return { do: 'answer', call: number, questions };
  }

  /** Objects that make no call for a waiting request; a suspended call may be lost. */
  #evictions(): Step[] {
    const isBusy = ({ spec, phase }: ModelCall, client: ClientName) => {
      if (spec.client !== client || client === 'legacy-1') return false;
      if (phase === 'running' || phase === 'cancelled') return true;
      return phase === 'asked' && !isModern(client);
    };
    return CLIENTS.flatMap(client =>
      this.calls.some(call => isBusy(call, client))
        ? []
        : KINDS.filter(kind =>
            this.calls.some(({ spec }) => spec.client === client && spec.kind === kind),
          ).map(kind => ({ do: 'evict', client, kind }) as const),
    );
  }

  #isParked({ spec, phase }: ModelCall): boolean {
    return phase === 'asked' && isModern(spec.client) && spec.kind !== 'http-modern';
  }

  #goOn(call: ModelCall): void {
    const { rounds, together, hang } = call.spec;
    if (call.given.size === rounds * together) call.phase = hang ? 'running' : 'result';
  }

  /** Answers in complete rounds. */
  #settled(given: ReadonlySet<number>, { together }: CallSpec): number {
    return Math.floor(given.size / together) * together;
  }
}

function drawSpec(random: Random, number: number): CallSpec {
  const client = random.pick(CLIENTS);
  return {
    number,
    client,
    kind: random.pick(KINDS.filter(kind => client !== 'legacy-1' || !HOLDING.has(kind))),
    rounds: random.below(3),
    together: 1 + random.below(2),
    hang: random.chance(0.1),
  };
}
