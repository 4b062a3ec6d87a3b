/**
 * Routes a legacy child's server requests to one of its many clients, since stdio does not say which call a request belongs to. If all
 * calls in flight belong to one session, it goes there; without calls, to the only listening client; else to nobody, so that one person
 * never sees another's request. Source: MCP 2025-11-25, client features.
 *
 * Invariants: a server request belongs to one session; only that session's response is passed on, once; a request that can no longer be
 * answered gets an error.
 */
import {
  canAnswer,
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

/** Where a message to one client goes: the stream of a call, or the notification stream of a session. */
export interface Place {
  session: Session;
  call?: Call<Session>;
  push(text: string): boolean;
}

interface OpenQuestion {
  place: Place;
  rawId: string;
  progressToken: unknown;
}

/** Methods during which a server may send requests. */
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
  /** The child sent a server request for this capability during a call, whether or not the client has it. */
  onAsked?(feature: ClientFeature): unknown;
}

export class Questions {
  readonly #options: QuestionsOptions;
  readonly #open = new Map<RequestId, OpenQuestion>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Handles a server request of the child. */
  ask({ id, method, params, raw }: Request): void {
    const { child, limits } = this.#options;
    const rawId = raw.get('id') ?? 'null';
    if (method === 'ping') return void child.send(`{"jsonrpc":"2.0","id":${rawId},"result":{}}`);
    if (capabilityFor(method) === undefined) {
      return void child.send(errorText(rawId, RPC.methodNotFound, 'Method not found'));
    }
    const { calls, onAsked } = this.#options;
    if (calls.live().some(call => ASKING.has(call.method))) onAsked?.(featureFor(method, params));
    // Two open requests with the same id could not be told apart.
    if (this.#open.has(id)) return;
    const place = this.place(session => answers(session.capabilities, method, params), ASKING);
    if (!place?.push(fromRawMembers(raw))) {
      if (!this.#isSupported(method, params)) return void child.send(refusalText(rawId, method));
      return this.#refuse(rawId, 'No client can answer this');
    }
    const { elicitationId, _meta } = params;
    if (typeof elicitationId === 'string') remember(place.session, elicitationId);
    const progressToken = isObject(_meta) ? _meta['progressToken'] : undefined;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= limits.questions) this.#giveUp(oldest);
    this.#open.set(id, { place, rawId, progressToken });
  }

  /**
   * Finds the client for a message that names no call.
   * @param mayTake whether a session may get it
   * @param methods of the calls it may belong to; undefined: any
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
    // The message may belong to a call of another session that was cancelled a moment ago.
    if (owners.size === 1 && !owners.has(session)) return undefined;
    return { session, push: text => session.stream?.push(text) ?? false };
  }

  /** Whether any session that the request may belong to could answer it; false without sessions. */
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

  /** Passes on a client's response, unless that client was not asked. */
  answer(session: Session, response: Response): void {
    const open = this.#open.get(response.id);
    if (open?.place.session !== session) return;
    this.#open.delete(response.id);
    this.#options.child.send(fromRawMembers(response.raw));
  }

  /** Passes on a client's progress with a response. */
  progress(session: Session, { params, raw }: Notification): void {
    const token = params['progressToken'];
    const isKnown = [...this.#open.values()].some(
      open => open.place.session === session && token !== undefined && open.progressToken === token,
    );
    if (isKnown) this.#options.child.send(fromRawMembers(raw));
  }

  /** The child cancels a server request. */
  withdraw({ params, raw }: Notification): void {
    const id = params['requestId'] as RequestId;
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    open.place.push(fromRawMembers(raw));
  }

  /** Answers the open requests at these places with an error, since their clients are gone. */
  giveUpWhere(isGone: (place: Place) => boolean): void {
    for (const [id, { place }] of this.#open) if (isGone(place)) this.#giveUp(id);
  }

  #giveUp(id: RequestId): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (open) this.#refuse(open.rawId, 'The client disconnected');
  }

  #refuse(rawId: string, message: string): void {
    this.#options.child.send(errorText(rawId, RPC.internalError, message));
  }
}

/** The response of a client without this capability (2025-11-25, roots, Error Handling, and as the SDKs answer). */
function refusalText(rawId: string, method: string): string {
  const name = capabilityFor(method) ?? method;
  const message = `The client does not support ${name} (${method})`;
  return errorText(rawId, RPC.methodNotFound, message);
}

/** The client capability that a server request needs. @param method of the request */
function featureFor(method: string, { mode }: JsonObject): ClientFeature {
  if (method === 'roots/list') return 'roots';
  if (method === 'sampling/createMessage') return 'sampling';
  return mode === 'url' ? 'elicitation.url' : 'elicitation.form';
}

/** Whether a client with these capabilities can answer this server request. */
export function answers(capabilities: JsonObject, method: string, params: JsonObject): boolean {
  if (!canAnswer(capabilities, method)) return false;
  if (method !== 'elicitation/create') return true;
  const modes = capabilities['elicitation'];
  if (!isObject(modes)) return false;
  // A declaration without modes means forms (2025-11-25, elicitation, Capabilities).
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
