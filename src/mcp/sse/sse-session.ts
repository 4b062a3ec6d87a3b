/**
 * One client of the HTTP+SSE transport, served in one Worker like a client with a legacy session: its messages, its notification stream and
 * the session's end work as on Streamable HTTP, and all output goes to the one event stream. The Worker that holds the stream serves the
 * messages, so that responses pass through no object and have only their own limits. They are written at the client's pace: while much
 * waits for the client, no further response is read, and a client that takes nothing for a while is disconnected.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { slicesOf, StallTimer } from '../../http/paced-body.ts';
import type { RequestBytes } from '../../shared/limits/bytes-in-flight.ts';
import { readEvents, toSseText } from '../../http/sse-events.ts';
import { withExactIds } from '../../shared/json/json-spans.ts';
import { isObject, isRequestId, type RequestId } from '../../shared/protocol.ts';
import type { Incoming } from '../incoming.ts';
import { FrameReader } from '../../sessions/stream-frames.ts';
import { stillHolds } from '../reply/stream-response.ts';
import { underId } from './under-id.ts';

export interface SseTerms {
  /** Where the client is to send its messages. */
  endpoint: string;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  keepAliveMs: number;
  /** Called when the stream is over. */
  release(): void;
  /** Counts what waits for the client; its creator releases it. */
  bytes: Pick<RequestBytes, 'take' | 'give' | 'retain' | 'stalledMs'>;
  /** The `Authorization` header that opened the stream. */
  authorization: string;
  /**
   * Whether a credential belongs to the stream: the token that opened it, or a newer one of the same grant.
   * @param maxAgeMs how old the data for that decision may be
   */
  isOwn(authorization: string, maxAgeMs?: number): Promise<boolean>;
  /** Runs work that outlives the stream. */
  waitUntil: WaitUntil;
  /** Serves a message, as Streamable HTTP does. */
  serveMessage(incoming: Incoming, text: string): Promise<Response>;
  /** Opens the notification stream of the legacy session that the headers name. */
  openStream(incoming: Incoming): Promise<Response>;
  /** Ends the legacy session that the headers name. */
  endSession(incoming: Incoming): Promise<unknown>;
}

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** Characters that may wait for a slow client; beyond that, no more are read until it takes some. */
const MAX_WAITING_CHARS = 8_388_608;
const MAX_EVENT_CHARS = 67_108_864;
/**
 * How often the credential is checked until the session's notification stream reports its end, in milliseconds; the streams of an isolate
 * share each read.
 */
const UNHEARD_MS = 400;

/** @param socket brings the client's messages; not yet accepted */
export function sseResponse(socket: WebSocket, terms: SseTerms): Response {
  const session = new SseSession(socket, terms);
  const body = new ReadableStream<Uint8Array>(
    {
      start: controller => session.start(controller),
      pull: () => session.pull(),
      cancel: () => session.end(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: HEADERS });
}

class SseSession {
  readonly #socket: WebSocket;
  readonly #terms: SseTerms;
  readonly #stall: StallTimer;
  /** Ends everything that is running. */
  readonly #over = new AbortController();
  readonly #calls = new Map<RequestId, AbortController>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: ReturnType<typeof setInterval> | null = null;
  #unheard: ReturnType<typeof setInterval> | null = null;
  /** The newest credential of the stream. */
  #authorization: string;
  #sessionId: string | undefined;
  /** Texts that wait for the client, their total length, and the slices of the first one, which is being written. */
  readonly #waiting: string[] = [];
  #waitingChars = 0;
  #slices: Iterator<Uint8Array, void> | undefined;
  /** Resolved when something begins to wait, or no longer waits. */
  #onChange = Promise.withResolvers<void>();
  #turn: Promise<unknown> = Promise.resolve();
  #settle = () => {};

  constructor(socket: WebSocket, terms: SseTerms) {
    this.#socket = socket;
    this.#terms = terms;
    this.#authorization = terms.authorization;
    this.#stall = new StallTimer(terms.bytes, () => this.end());
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    // Keeps the request alive to end the session after the client has gone.
    this.#terms.waitUntil(new Promise<void>(resolve => (this.#settle = resolve)));
    const frames = new FrameReader();
    this.#socket.addEventListener('message', ({ data }) => {
      const frame = typeof data === 'string' ? frames.push(data) : undefined;
      if (frame) void this.#receive(frame.text, frame.id).catch(() => this.end());
    });
    this.#socket.addEventListener('close', () => this.end());
    this.#socket.addEventListener('error', () => this.end());
    this.#terms.signal.addEventListener('abort', () => this.end(), { once: true });
    this.#socket.accept();
    this.#write(toSseText(this.#terms.endpoint, 'endpoint'));
    this.#timer = setInterval(() => void this.#keepAlive(), this.#terms.keepAliveMs);
    this.#unheard = setInterval(() => void this.#endUnlessOwn(UNHEARD_MS), UNHEARD_MS);
  }

  /** Ends the stream, and with it the session and all its calls. */
  end(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    this.#terms.release();
    this.#stall.stop();
    this.#terms.bytes.give(this.#waitingChars);
    this.#waiting.length = 0;
    this.#waitingChars = 0;
    this.#changed();
    clearInterval(this.#timer);
    clearInterval(this.#unheard);
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.close(1000, 'gone');
    for (const call of this.#calls.values()) call.abort();
    try {
      this.#controller?.close();
    } catch {
      // The client has already cancelled it.
    }
    void this.#endSession().finally(this.#settle);
  }

  /** Ends the session now; without this, its idle time would end it. */
  async #endSession(): Promise<void> {
    if (this.#sessionId === undefined) return;
    const { signal } = new AbortController();
    await this.#terms.endSession(this.#incoming(signal)).catch(() => {});
  }

  async #keepAlive(): Promise<void> {
    await this.#endUnlessOwn();
    if (this.#waiting.length === 0) this.#write(': keep-alive\n\n');
  }

  async #endUnlessOwn(maxAgeMs?: number): Promise<void> {
    const asked = this.#authorization;
    const isOwn = await stillHolds(() => this.#terms.isOwn(asked, maxAgeMs)).catch(() => false);
    if (!isOwn && asked === this.#authorization) this.end();
  }

  /** Adopts a newer token of the same grant, with which the stream continues. */
  async #renew(authorization: string): Promise<void> {
    if (authorization === this.#authorization) return;
    const check = () => this.#terms.isOwn(authorization);
    if (await stillHolds(check).catch(() => false)) this.#authorization = authorization;
  }

  /** @param authorization of the POST that brought the message */
  async #receive(text: string, authorization: string): Promise<void> {
    const message = withExactIds(JSON.parse(text), text);
    const { method, id, params } = isObject(message) ? message : {};
    if (method === 'notifications/cancelled' && isObject(params)) {
      this.#calls.get(params['requestId'] as RequestId)?.abort();
      return;
    }
    const call = new AbortController();
    if (isRequestId(id) && typeof method === 'string') this.#calls.set(id, call);
    try {
      await this.#renew(authorization);
      const incoming = this.#incoming(call.signal, authorization);
      const response = await this.#terms.serveMessage(incoming, text);
      const opened = response.headers.get('mcp-session-id');
      // Errors about a client's response or notification are not answered on a stream.
      const isAnswered = !isObject(message) || (id !== undefined && typeof method === 'string');
      await this.#forward(response, call.signal, isAnswered, isRequestId(id) ? id : null);
      const isGone = response.status === 401 || response.status === 404;
      // A refusal of another token does not end this token's stream.
      if (isGone && authorization === this.#authorization) this.end();
      if (opened !== null && this.#sessionId === undefined) await this.#listen(opened);
    } finally {
      if (isRequestId(id) && this.#calls.get(id) === call) this.#calls.delete(id);
    }
  }

  /** Joins the session's notification stream to this stream. */
  async #listen(sessionId: string): Promise<void> {
    this.#sessionId = sessionId;
    const { signal } = this.#over;
    const authorization = this.#authorization;
    const stream = await this.#terms.openStream(this.#incoming(signal));
    clearInterval(this.#unheard);
    // It ends when the session or its token does; with a newer token it is opened again.
    const goOn = () =>
      authorization === this.#authorization ? this.end() : this.#listen(sessionId);
    void this.#forward(stream, signal)
      .then(goOn)
      .catch(() => this.end());
  }

  /** Writes a response, message by message; writes nothing where the call was cancelled. */
  async #forward(
    response: Response,
    signal: AbortSignal,
    isAnswered = true,
    id: RequestId | null = null,
  ): Promise<void> {
    const type = response.headers.get('content-type') ?? '';
    if (!type.includes('text/event-stream') || !response.body) {
      await this.#inTurn(async () => {
        const text = await response.text();
        if (isAnswered && text !== '' && !signal.aborted) this.#write(toSseText(underId(text, id)));
      });
      return;
    }
    const body = response.body.pipeThrough(new TransformStream(), { signal });
    try {
      for await (const { data } of readEvents(body, MAX_EVENT_CHARS)) {
        if (data === '') continue;
        if (!this.#terms.bytes.take(data.length)) return this.end();
        await this.#inTurn(() => {
          this.#terms.bytes.give(data.length);
          if (!signal.aborted) this.#write(toSseText(data));
        });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** @param authorization of the message; by default that of the stream */
  #incoming(signal: AbortSignal, authorization = this.#authorization): Incoming {
    const headers = new Headers({ authorization, accept: 'application/json, text/event-stream' });
    if (this.#sessionId !== undefined) headers.set('mcp-session-id', this.#sessionId);
    return { headers, signal };
  }

  /** Runs one after the other, each once the client has taken enough of what came before. */
  #inTurn(work: () => void | Promise<void>): Promise<void> {
    const last = this.#turn;
    const inTurn = async () => {
      await last;
      while (this.#waitingChars >= MAX_WAITING_CHARS) await this.#onChange.promise;
      await work();
    };
    const result = inTurn();
    this.#turn = result.catch(() => {});
    return result;
  }

  /** Queues a text for the client; ends the stream where memory has no room for it. */
  #write(text: string): void {
    if (this.#over.signal.aborted) return;
    if (!this.#terms.bytes.take(text.length)) return this.end();
    this.#waiting.push(text);
    this.#waitingChars += text.length;
    if (this.#waiting.length === 1) this.#stall.start();
    this.#changed();
  }

  /** The client takes more: write a slice of what waits, as soon as something does. */
  async pull(): Promise<void> {
    this.#stall.stop();
    while (this.#waiting.length === 0) {
      if (this.#over.signal.aborted) return;
      await this.#onChange.promise;
    }
    this.#slices ??= slicesOf([this.#waiting[0] ?? '']);
    const slice = this.#slices.next();
    if (slice.done) {
      this.#taken();
      return this.pull();
    }
    this.#controller?.enqueue(slice.value);
    this.#stall.start();
  }

  /** The first waiting text is written. */
  #taken(): void {
    const { length } = this.#waiting.shift() ?? '';
    this.#slices = undefined;
    this.#waitingChars -= length;
    this.#terms.bytes.give(length);
    this.#changed();
  }

  #changed(): void {
    const { resolve } = this.#onChange;
    this.#onChange = Promise.withResolvers<void>();
    resolve();
  }
}
