/**
 * An in-test MCP server of each transport that sends server requests during its calls. The arguments script the call; its result has the
 * call's mark and every answer it got, so that a test sees whose answer reached which call. Records calls, answers and cancellations. Used
 * through `fakeUpstreams`.
 */
import { fakeUpstreams } from './fake-upstreams.ts';
import { createOutlet, waitFor, type OutboundFetch } from './outbound.ts';
import {
  event,
  MODERN_BASE,
  questionParams,
  toResult,
  tools,
  type Given,
  type Kind,
  type Message,
  type SeenCall,
  type Send,
} from './asking-script.ts';

export class AskingServer {
  readonly kind: Kind;
  readonly calls = new Map<string, SeenCall>();
  /** Every received value of `requestState`. */
  readonly states: unknown[] = [];
  /** Answers that belong to no open server request. */
  readonly stray: Message[] = [];
  /** Open HTTP+SSE streams. */
  openStreams = 0;
  /** Streams opened so far. */
  opened = 0;
  /** Sessions given out so far, and those that their clients ended. */
  sessions = 0;
  readonly ended: string[] = [];
  readonly #forgotten = new Set<string>();
  #questions = 0;
  readonly #waiting = new Map<unknown, (given: Given) => void>();
  readonly #byRequest = new Map<unknown, SeenCall>();
  readonly #streams = new Map<string, OutboundFetch>();

  constructor(kind: Kind) {
    this.kind = kind;
  }

  /** The call with this mark. */
  call(mark: string): SeenCall | undefined {
    return this.calls.get(mark);
  }

  readonly handle = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const session = request.headers.get('mcp-session-id') ?? '';
    if (request.method === 'GET') return this.#listen(url, session, request.signal);
    if (request.method === 'DELETE') {
      this.ended.push(session);
      return new Response(null);
    }
    const message = (await request.json()) as Message;
    if (this.kind === 'sse-legacy') return this.#overStream(url, message);
    if (this.kind === 'http-modern') return this.#modern(message, request.signal);
    return this.#legacy(message, request.signal, session);
  };

  /** Forgets all sessions given out so far and their streams, except for one. */
  forgetSessions(kept?: string): void {
    for (let n = 1; n <= this.sessions; n += 1) {
      const session = `s${n}`;
      if (session === kept) continue;
      this.#forgotten.add(session);
      this.#streams.get(session)?.end();
    }
  }

  /** An HTTP+SSE connection, or the notification stream of a session. */
  #listen(url: URL, session: string, signal: AbortSignal): Response {
    if (url.pathname === '/sse') {
      this.sessions += 1;
      return this.#openStream(`s${this.sessions}`, signal, true);
    }
    if (this.kind !== 'http-standing' || session === '') return new Response(null, { status: 405 });
    if (this.#forgotten.has(session)) return new Response(null, { status: 404 });
    // A later stream replaces the former: a reader that lost its memory is not noticed here.
    return this.#openStream(session, signal);
  }

  /** The response to methods that are the same in both eras; undefined for a call. */
  #ordinary({ id, method, params }: Message): object | undefined {
    const capabilities = { tools: {} };
    const modern = this.kind === 'http-modern';
    const base = modern ? MODERN_BASE : {};
    const reply = (result: object) => ({ jsonrpc: '2.0', id, result: { ...base, ...result } });
    if (modern && method === 'server/discover') {
      return reply({ supportedVersions: ['2026-07-28'], capabilities });
    }
    if (!modern && method === 'initialize') {
      const { protocolVersion } = params ?? {};
      return reply({ protocolVersion, capabilities, serverInfo: { name: 'asking', version: '1' } });
    }
    if (method === 'tools/list') return reply({ tools });
    if (method === 'tools/call') return undefined;
    return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
  }

  /** Handles messages without an answer: responses to server requests, and notifications. @returns whether it was one */
  #heard(message: Message): boolean {
    const { id, method, params } = message;
    if (method === undefined) {
      const resolve = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (resolve) resolve(message);
      else this.stray.push(message);
      return true;
    }
    if (method === 'notifications/cancelled') {
      const call = this.#byRequest.get(params?.requestId);
      if (call) call.cancelled = true;
    }
    return id === undefined;
  }

  #begin({ id, params }: Message): SeenCall {
    const plan = params?.arguments ?? { mark: '' };
    const fresh: SeenCall = {
      plan: {
        rounds: 0,
        together: 1,
        method: 'elicitation/create',
        progress: false,
        hang: false,
        ...plan,
      },
      id,
      progressToken: params?._meta?.progressToken,
      arrivals: 0,
      answers: [],
      cancelled: false,
      cut: false,
      done: false,
    };
    const call = this.calls.get(plan.mark) ?? fresh;
    call.arrivals += 1;
    this.calls.set(plan.mark, call);
    this.#byRequest.set(id, call);
    return call;
  }

  /** A legacy call: server requests go out on its stream, or through `ask`. */
  async #run(call: SeenCall, send: Send, ask = send): Promise<void> {
    const { mark, rounds, together, method, progress, hang } = call.plan;
    const tell = (at: number) => {
      const params = { progressToken: call.progressToken, progress: at };
      if (progress) send({ jsonrpc: '2.0', method: 'notifications/progress', params });
    };
    tell(1);
    for (let round = 0; round < rounds; round += 1) {
      const asked = Array.from({ length: together }, (_, i) => {
        this.#questions += 1;
        const id = `ask-${this.#questions}`;
        const answer = new Promise<Given>(resolve => this.#waiting.set(id, resolve));
        const params = questionParams(mark, round * together + i);
        ask({ jsonrpc: '2.0', id, method, params });
        return answer;
      });
      call.answers.push(...(await Promise.all(asked)));
    }
    if (hang || call.cancelled || call.cut) return;
    tell(2);
    call.done = true;
    send({ jsonrpc: '2.0', id: call.id, result: toResult(call) });
  }

  #legacy(message: Message, signal: AbortSignal, session: string): Response | Promise<Response> {
    if (this.#forgotten.has(session)) return new Response(null, { status: 404 });
    if (this.#heard(message)) return new Response(null, { status: 202 });
    const ordinary = this.#ordinary(message);
    if (ordinary && message.method === 'initialize') {
      this.sessions += 1;
      return Response.json(ordinary, { headers: { 'mcp-session-id': `s${this.sessions}` } });
    }
    if (ordinary) {
      return Response.json(ordinary, { status: message.method === 'server/discover' ? 400 : 200 });
    }
    const call = this.#begin(message);
    // Messages without a listener are lost, as in the server of the 1.x SDK.
    const standing: Send = asked => this.#streams.get(session)?.send(asked);
    const ask = this.kind === 'http-standing' ? standing : undefined;
    if (ask && call.plan.together > 1) return this.#asJson(call, ask, signal);
    const onGone = () => (call.cut = true);
    const outboundFetch = createOutlet({ signal, isPolled: ask !== undefined, onGone });
    void this.#run(call, outboundFetch.send, ask).then(() => call.done && outboundFetch.end());
    return outboundFetch.response;
  }

  /** A JSON answer without a stream of its own. */
  async #asJson(call: SeenCall, ask: Send, signal: AbortSignal): Promise<Response> {
    const answers: object[] = [];
    signal.addEventListener('abort', () => (call.cut = !call.done));
    void this.#run(call, message => answers.push(message), ask);
    await waitFor(() => answers.length > 0 || call.cut);
    return Response.json(answers[0] ?? {});
  }

  /** A modern call: server requests are its result, and the retry brings the answers. */
  #modern(message: Message, signal: AbortSignal): Response | Promise<Response> {
    if (message.id === undefined) return new Response(null, { status: 202 });
    const ordinary = this.#ordinary(message);
    if (ordinary) return Response.json(ordinary);
    const { params = {} } = message;
    const call = this.#begin(message);
    const { mark, rounds, together, method, hang } = call.plan;
    const { requestState } = params;
    this.states.push(requestState);
    const round = requestState === undefined ? 0 : Number(String(requestState).split('@')[1]);
    if (requestState !== undefined) {
      const given = params.inputResponses ?? {};
      const foreign = !String(requestState).startsWith(`${mark}@`);
      for (let i = 0; i < together; i += 1) {
        const result = foreign ? undefined : given[`k${i}`];
        call.answers.push(result === undefined ? { error: { code: -1 } } : { result });
      }
    }
    const reply = (result: object) => Response.json({ jsonrpc: '2.0', id: message.id, result });
    if (round < rounds) {
      const requests = Array.from({ length: together }, (_, i) => [
        `k${i}`,
        { method, params: questionParams(mark, round * together + i) },
      ]);
      const inputRequests = Object.fromEntries(requests) as object;
      const state = `${mark}@${round + 1}`;
      return reply({ resultType: 'input_required', inputRequests, requestState: state });
    }
    if (!hang) {
      call.done = true;
      return reply({ ...MODERN_BASE, ...toResult(call) });
    }
    signal.addEventListener('abort', () => (call.cut = true));
    return new Promise(() => {});
  }

  #openStream(session: string, signal: AbortSignal, isNamed = false): Response {
    this.openStreams += 1;
    this.opened += 1;
    const outboundFetch = createOutlet({
      signal,
      isPolled: !isNamed,
      onGone: () => {
        this.openStreams -= 1;
        if (this.#streams.get(session) === outboundFetch) this.#streams.delete(session);
      },
      ...(isNamed ? { first: event(`/messages?session=${session}`, 'endpoint') } : {}),
    });
    this.#streams.get(session)?.end();
    this.#streams.set(session, outboundFetch);
    return outboundFetch.response;
  }

  #overStream(url: URL, message: Message): Response {
    const session = url.searchParams.get('session') ?? '';
    if (!this.#streams.has(session)) return new Response(null, { status: 404 });
    const send: Send = text => this.#streams.get(session)?.send(text);
    const accepted = new Response(null, { status: 202 });
    if (this.#heard(message)) return accepted;
    const ordinary = this.#ordinary(message);
    if (ordinary) send(ordinary);
    else void this.#run(this.#begin(message), send);
    return accepted;
  }
}

/** Puts asking servers on the network, each at `https://{name}.example.com`. */
export function serveAsking(servers: Readonly<Record<string, AskingServer>>): void {
  const upstreams = Object.entries(servers).map(
    ([name, server]) => [`https://${name}.example.com`, server.handle] as const,
  );
  fakeUpstreams(Object.fromEntries(upstreams));
}

/** The registration of a server of this kind. */
export const registrationOf = (name: string, kind: Kind) =>
  kind === 'sse-legacy'
    ? { transport_type: 'SSE', connection_config: { url: `https://${name}.example.com/sse` } }
    : {};
