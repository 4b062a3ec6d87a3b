/**
 * What a legacy child asks of "the client", though it has many: stdio does not say which call a question belongs to. It goes to
 * the client of the calls under way where they all are of one session, else to the only one that listens, else to nobody: a
 * question of one person is never shown to another. Source: MCP 2025-11-25, client features.
 *
 * Invariants: a question has one session; only that session's answer is passed on, once; what nobody can answer any more is
 * answered with an error.
 */
import {
  canBeAsked,
  capabilityFor,
  type ClientFeature,
} from '../../../src/shared/client-capabilities.ts';
import { isObject, RPC, type JsonObject, type RequestId } from '../../../src/shared/protocol.ts';
import { fromRawMembers } from '../../../src/shared/json/json-spans.ts';
import type { Call, Calls, Notification, Request, Response } from './calls.ts';
import type { Child } from './child.ts';
import { errorText } from './child-message.ts';
import type { Limits } from './limits.ts';
import type { Session, Sessions } from './sessions.ts';

/** A way to one client: the stream of a call, or the notification stream of a session. */
export interface Place {
  session: Session;
  call?: Call<Session>;
  push(text: string): boolean;
}

interface OpenQuestion {
  place: Place;
  /** Raw JSON of the whole question's id. */
  rawId: string;
  progressToken: unknown;
}

/** Requests in whose course a server may ask. */
export const ASKING: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'tasks/result',
]);
const MAX_ELICITATIONS = 100;

export interface QuestionsOptions {
  child: Child;
  calls: Calls<Session>;
  sessions: Sessions;
  limits: Pick<Limits, 'questions'>;
  /** The child asked for a feature of its client in a call, whether that has it or not. */
  onAsked?(feature: ClientFeature): unknown;
}

export class Questions {
  readonly #options: QuestionsOptions;
  readonly #open = new Map<RequestId, OpenQuestion>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** The child asks. */
  ask({ id, method, params, raw }: Request): void {
    const { child, limits } = this.#options;
    const rawId = raw.get('id') ?? 'null';
    if (method === 'ping') return void child.send(`{"jsonrpc":"2.0","id":${rawId},"result":{}}`);
    if (capabilityFor(method) === undefined) {
      return void child.send(errorText(rawId, RPC.methodNotFound, 'Method not found'));
    }
    const { calls, onAsked } = this.#options;
    if (calls.live().some(call => ASKING.has(call.method))) onAsked?.(featureFor(method, params));
    // Two open questions under one id could not be told apart.
    if (this.#open.has(id)) return;
    const place = this.place(session => answers(session.capabilities, method, params), ASKING);
    if (!place?.push(fromRawMembers(raw))) {
      if (!this.#isSupported(method, params)) return void child.send(refusalText(rawId, method));
      return this.#refuse(rawId, 'No client can be asked this');
    }
    const { elicitationId, _meta } = params;
    if (typeof elicitationId === 'string') remember(place.session, elicitationId);
    const progressToken = isObject(_meta) ? _meta['progressToken'] : undefined;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= limits.questions) this.#giveUp(oldest);
    this.#open.set(id, { place, rawId, progressToken });
  }

  /**
   * Where something goes that is tied to no call by itself.
   * @param mayTake whether a session is one that it can go to
   * @param methods of the calls it may belong to; undefined: of any
   */
  place(mayTake: (session: Session) => boolean, methods?: ReadonlySet<string>): Place | undefined {
    const { calls, sessions } = this.#options;
    const concerns = ({ method }: Call<Session>) => methods?.has(method) ?? true;
    const live = calls.live().filter(concerns);
    const owners = new Set(
      [...live, ...calls.cancelledCalls().filter(concerns)].map(call => call.owner),
    );
    if (owners.size > 1) return undefined;
    const call = live.at(-1);
    if (call) {
      const { owner: session, answer } = call;
      if (!mayTake(session)) return undefined;
      return { session, call, push: text => answer.notify(text) };
    }
    const listening = sessions.all().filter(one => one.stream !== undefined && mayTake(one));
    const [session] = listening;
    if (!session || listening.length > 1) return undefined;
    // What was cancelled a moment ago may be another one's.
    if (owners.size === 1 && !owners.has(session)) return undefined;
    return { session, push: text => session.stream?.push(text) ?? false };
  }

  /** Whether one of those whom the question may be for could answer it; without anybody nobody could. */
  #isSupported(method: string, params: JsonObject): boolean {
    const { calls, sessions } = this.#options;
    const owners = new Set(
      calls
        .live()
        .filter(call => ASKING.has(call.method))
        .map(call => call.owner),
    );
    const concerned = owners.size === 1 ? [...owners] : sessions.all();
    return concerned.some(({ capabilities }) => answers(capabilities, method, params));
  }

  /** A client answers. What it was not asked is passed over. */
  answer(session: Session, response: Response): void {
    const open = this.#open.get(response.id);
    if (open?.place.session !== session) return;
    this.#open.delete(response.id);
    this.#options.child.send(fromRawMembers(response.raw));
  }

  /** A client tells how far it is with an answer. */
  progress(session: Session, { params, raw }: Notification): void {
    const token = params['progressToken'];
    const isKnown = [...this.#open.values()].some(
      open => open.place.session === session && token !== undefined && open.progressToken === token,
    );
    if (isKnown) this.#options.child.send(fromRawMembers(raw));
  }

  /** The child takes a question back. */
  withdraw({ params, raw }: Notification): void {
    const id = params['requestId'] as RequestId;
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    open.place.push(fromRawMembers(raw));
  }

  /** Nobody will answer what was asked there. */
  giveUpWhere(isGone: (place: Place) => boolean): void {
    for (const [id, { place }] of this.#open) if (isGone(place)) this.#giveUp(id);
  }

  #giveUp(id: RequestId): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (open) this.#refuse(open.rawId, 'The client went away');
  }

  #refuse(rawId: string, message: string): void {
    this.#options.child.send(errorText(rawId, RPC.internalError, message));
  }
}

/** What a client answers that has no such capability (2025-11-25, roots, Error Handling, and what its SDKs answer). */
function refusalText(rawId: string, method: string): string {
  const name = capabilityFor(method) ?? method;
  const message = `The client does not support ${name} (${method})`;
  return errorText(rawId, RPC.methodNotFound, message);
}

/** The feature of a client that a question needs. @param method of a question */
function featureFor(method: string, { mode }: JsonObject): ClientFeature {
  if (method === 'roots/list') return 'roots';
  if (method === 'sampling/createMessage') return 'sampling';
  return mode === 'url' ? 'elicitation.url' : 'elicitation.form';
}

/** Whether a client with these capabilities answers this very question. */
export function answers(capabilities: JsonObject, method: string, params: JsonObject): boolean {
  if (!canBeAsked(capabilities, method)) return false;
  if (method !== 'elicitation/create') return true;
  const modes = capabilities['elicitation'];
  if (!isObject(modes)) return false;
  // Without any mode it is forms that are meant (2025-11-25, elicitation, Capabilities).
  if (params['mode'] === 'url') return isObject(modes['url']);
  return isObject(modes['form']) || modes['url'] === undefined;
}

function remember(session: Session, elicitationId: string): void {
  const [oldest] = session.elicitations;
  if (oldest !== undefined && session.elicitations.size >= MAX_ELICITATIONS) {
    session.elicitations.delete(oldest);
  }
  session.elicitations.add(elicitationId);
}
