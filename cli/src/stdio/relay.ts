/**
 * Relay between a host on stdio and a gateway over HTTP: every message is passed on unchanged. Tracks the requests, so that each gets at
 * most one response: the gateway's, or an error that says why there is none.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { withExactIds } from '../../../src/shared/json/json-spans.ts';
import {
  idText,
  isObject,
  META,
  RPC,
  type JsonObject,
  type RequestId,
} from '../../../src/shared/protocol.ts';
import { Calls, type Call } from './calls.ts';
import { Delivery } from './delivery.ts';
import { readMessages, readRefusal, type GatewayEndpoint } from './source.ts';
import { legacyHeaders } from './headers.ts';
import type { Line } from './lines.ts';
import {
  cancelledId,
  idFromEnds,
  parseMessage,
  type HostMessage,
  type HostNotification,
  type HostRequest,
} from './message.ts';
import { errorText, reasonOf, refusedByGateway, RelayError, toRelayError } from './refusal.ts';
import { Session, sessionOf } from './session.ts';
import { NotificationStream } from './notification-stream.ts';

/** Longest wait for the gateway to end a session, in milliseconds. */
const END_SESSION_MS = 2_000;
/** Longest wait for the end of cancelled requests, in milliseconds. */
const LAST_WORDS_MS = 1_000;
const LISTEN = 'subscriptions/listen';

export interface RelayPorts {
  gatewayEndpoint: GatewayEndpoint;
  /** Writes one line to the host; resolves when the host has read it. */
  write(line: string): Promise<void>;
  /** Shows a message to people. */
  note(text: string): void;
}

export class Relay {
  readonly #ports: RelayPorts;
  readonly #calls = new Calls();
  readonly #over = new AbortController();
  readonly #session: Session;
  readonly #stream: NotificationStream;
  readonly #delivery: Delivery;

  constructor(ports: RelayPorts) {
    this.#ports = ports;
    const { gatewayEndpoint, note } = ports;
    this.#session = new Session(gatewayEndpoint, session => this.#stream.follow(session));
    this.#stream = new NotificationStream({
      gatewayEndpoint,
      note,
      pass: text => this.#write(text),
      onForgotten: session => this.#session.reopen(session),
    });
    this.#delivery = new Delivery(gatewayEndpoint, this.#session);
  }

  /** Handles one line of the host. Resolves when the next one may be read; never throws. */
  async accept(line: Line): Promise<void> {
    if ('tooLong' in line) {
      const { head, tail } = line.tooLong;
      const error = new RelayError('the message is longer than 16 MiB', RPC.invalidRequest);
      await this.#write(errorText(idFromEnds(head, tail), error));
    } else if (line.text.trim() !== '') {
      await this.#take(parseMessage(line.text));
    }
    await this.#calls.ready();
  }

  /** The host has closed its output: waits for requests in flight until `grace` aborts, then ends. Never throws. */
  async end(grace: AbortSignal): Promise<void> {
    this.#stream.stop();
    for (const call of this.#calls.all()) if (call.method === LISTEN) cancel(call);
    const retry = Promise.withResolvers<void>();
    grace.addEventListener('abort', () => retry.resolve(), { once: true });
    if (grace.aborted) retry.resolve();
    await Promise.race([this.#calls.idle(), retry.promise]);
    this.#over.abort();
    for (const call of this.#calls.all()) cancel(call);
    // A host that no longer reads would block this for ever.
    await Promise.race([this.#calls.idle(), pause(LAST_WORDS_MS)]);
    await this.#session.end(AbortSignal.timeout(END_SESSION_MS));
  }

  async #take(message: HostMessage): Promise<void> {
    if (message.kind === 'refused') {
      const error = new RelayError(message.reason, message.code);
      return this.#write(errorText(message.id, error));
    }
    if (message.kind === 'request') return this.#takeRequest(message);
    if (message.kind === 'batch') {
      const { text, ids } = message;
      const reason = this.#reasonAgainst(ids);
      if (reason !== undefined) return this.#write(errorText(null, reason));
      const call = this.#calls.hold(ids, 'legacy', '');
      const send = () => this.#delivery.legacy(text, call.abort.signal);
      return this.#run(ids, text.length, call, send);
    }
    if (message.kind === 'notification') return this.#takeNotification(message);
    this.#tell(message.text, async () => {
      const headers = legacyHeaders(this.#session.current);
      return this.#ports.gatewayEndpoint.post(message.text, headers, this.#over.signal);
    });
  }

  async #takeRequest(request: HostRequest): Promise<void> {
    const { id, era, method, text } = request;
    const reason = this.#reasonAgainst([id]);
    if (reason !== undefined) return this.#write(errorText(id, reason));
    const call = this.#calls.hold([id], era, method);
    const { signal } = call.abort;
    const isOpening = era === 'legacy' && method === 'initialize';
    const send = async () => {
      if (!isOpening) return this.#delivery.request(request, signal);
      this.#stream.stop();
      await this.#session.end(AbortSignal.timeout(END_SESSION_MS));
      return this.#ports.gatewayEndpoint.post(text, {}, signal);
    };
    this.#run([id], text.length, call, send, (message, response) => {
      const { result } = message;
      if (!isObject(result)) return;
      if (era === 'modern' && method === 'tools/list') this.#delivery.learn(result);
      if (era === 'legacy') this.#session.keep(request);
      const session = isOpening ? sessionOf(response, message) : undefined;
      if (session) this.#session.opened(text, session);
    });
  }

  /** Why these requests cannot be sent now. */
  #reasonAgainst(ids: readonly RequestId[]): RelayError | undefined {
    const isBusy = ids.some(id => this.#calls.get(id) !== undefined);
    if (!isBusy && !this.#calls.isFull) return undefined;
    const reason = isBusy ? 'a request with this id is still running' : 'too many requests at once';
    return new RelayError(reason, RPC.invalidRequest);
  }

  #takeNotification(notification: HostNotification): void {
    const { text, method, era } = notification;
    const id = cancelledId(notification);
    const call = id === undefined ? undefined : this.#calls.get(id);
    if (method === 'notifications/cancelled') {
      if (!call || call.method === 'initialize') return;
      if (call.era === 'modern') return cancel(call);
      // The gateway ends the response itself, after the remaining messages.
      call.isCancelled = true;
    }
    // The modern era has no other notification from a client.
    if (era === 'modern') return;
    this.#tell(text, async () => {
      const response = await this.#delivery.legacy(text, this.#over.signal);
      const session = this.#session.current;
      if (response.ok && session && method === 'notifications/initialized') {
        this.#stream.follow(session);
      }
      return response;
    });
  }

  /** Sends a message that gets no response. */
  #tell(text: string, send: () => Promise<Response>): void {
    this.#calls.run(text.length, async () => {
      try {
        const response = await send();
        await response.body?.cancel();
        if (!response.ok)
          this.#ports.note(`the gateway did not accept a message: ${response.status}`);
      } catch (error) {
        if (this.#over.signal.aborted) return;
        this.#ports.note(`a message did not reach the gateway: ${reasonOf(error)}`);
      }
    });
  }

  /** Sends requests, and passes their responses on. */
  #run(
    ids: readonly RequestId[],
    chars: number,
    call: Call,
    send: () => Promise<Response>,
    onResponse: (message: JsonObject, response: Response) => void = () => {},
  ): void {
    const fail = async (error: RelayError) => {
      if (call.isCancelled || call.isAnswered) return;
      const [id] = ids;
      if (call.method === LISTEN && call.hasBegun && id !== undefined) {
        return this.#write(endOfSubscription(id));
      }
      const texts = ids.map(each => errorText(each, error));
      if (texts.length > 0)
        await this.#write(call.method === '' ? `[${texts.join()}]` : texts.join());
    };
    this.#calls.run(chars, async takenOver => {
      let hasAnswer = false;
      try {
        const response = await send();
        hasAnswer = true;
        takenOver();
        await this.#pass(response, ids, call, onResponse);
        await fail(new RelayError('the gateway ended the exchange without a response'));
      } catch (error) {
        await fail(toRelayError(error, this.#ports.gatewayEndpoint.origin, hasAnswer));
      } finally {
        this.#calls.release(ids);
      }
    });
  }

  /** Passes on the messages of a response. */
  async #pass(
    response: Response,
    ids: readonly RequestId[],
    call: Call,
    onResponse: (message: JsonObject, response: Response) => void,
  ): Promise<void> {
    const messages = response.ok ? readMessages(response) : [await readRefusal(response)];
    for await (const text of messages) {
      const message = parse(text);
      const isOwn =
        isObject(message) && ids.some(id => id === message['id']) && !('method' in message);
      if (!response.ok && !isOwn) throw refusedByGateway(response.status, message);
      if (!isObject(message) && !Array.isArray(message)) {
        throw new RelayError('the response contains something other than messages');
      }
      if (call.abort.signal.aborted) return;
      if (isOwn) onResponse(message, response);
      call.hasBegun = true;
      call.isAnswered ||= isOwn || Array.isArray(message);
      await this.#write(text);
    }
  }

  /** A host that no longer reads is gone. */
  async #write(text: string): Promise<void> {
    await this.#ports.write(`${text}\n`).catch(() => this.#over.abort());
  }
}

function cancel(call: Call): void {
  call.isCancelled = true;
  call.abort.abort();
}

function parse(text: string): unknown {
  try {
    return withExactIds(JSON.parse(text), text);
  } catch {
    return undefined;
  }
}

/** Over stdio, the end of a subscription is sent as a cancellation (2026-07-28, patterns, subscriptions). */
function endOfSubscription(id: RequestId): string {
  const meta = `{${JSON.stringify(META.subscriptionId)}:${idText(id)}}`;
  const params = `{"requestId":${idText(id)},"_meta":${meta}}`;
  return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`;
}
