/**
 * Serves one run of a modern child as a Streamable HTTP server without sessions: each request stands for itself. Source: MCP 2026-07-28,
 * Streamable HTTP, stdio, and subscriptions.
 */
import { type HttpAnswer, type HttpRequest, SESSION_HEADER } from './http-message.ts';
import { isObject, META, MODERN_VERSION, RPC } from '../../../src/shared/protocol.ts';
import { plainAnswer } from './answer.ts';
import { type Call, Calls, type Notification, type Request } from './calls.ts';
import { errorText, rawAt, withMembers, type Change, type ChildMessage } from './child-message.ts';
import { SESSION_UNKNOWN, type AdapterOptions } from './legacy-adapter.ts';

const LISTEN = 'subscriptions/listen';

export class ModernAdapter {
  readonly #options: AdapterOptions;
  readonly #calls: Calls<undefined>;

  constructor(options: AdapterOptions) {
    this.#options = options;
    const { child, room, limits } = options;
    this.#calls = new Calls({ child, room, limits, pings: false });
  }

  /** Handles a client's request. @param message the body of a POST */
  handle(
    request: HttpRequest,
    message: ChildMessage | undefined,
  ): HttpAnswer | Promise<HttpAnswer> {
    if (request.method !== 'POST') return plainAnswer(405, '', { allow: 'POST' });
    if (message?.kind !== 'request') return plainAnswer(202);
    // One message without the version would switch a server of both eras to legacy, for every client.
    if (versionOf(message) !== MODERN_VERSION) {
      const isInSession = request.headers[SESSION_HEADER] !== undefined;
      return isInSession ? plainAnswer(404, SESSION_UNKNOWN) : refuseVersion(message);
    }
    return this.#calls.begin(message, undefined, request.signal, response => {
      if (message.method === 'tools/list') return this.#options.tools.ofList(response.raw);
      const path = ['result', '_meta', META.subscriptionId];
      const isListen = message.method === LISTEN && rawAt(response.raw, ...path) !== undefined;
      return isListen ? [[path, message.raw.get('id') ?? 'null']] : [];
    }).http;
  }

  /** There are no sessions in this era. */
  sessionIds(): string[] {
    return [];
  }

  capabilitiesOf(): undefined {
    return undefined;
  }

  /** Handles a message of the child; server requests are not allowed in this era, and are dropped. */
  async take(message: ChildMessage): Promise<void> {
    if (message.kind === 'response') this.#calls.respond(message);
    else if (message.kind === 'notification') this.#tell(message);
    if (this.#options.room.isFull) await this.#options.room.wait();
  }

  get isBusy(): boolean {
    return this.#calls.live().length > 0;
  }

  get isSubscribed(): boolean {
    return this.#calls.live().some(({ method }) => method === LISTEN);
  }

  close(reason: string): void {
    this.#calls.close(reason);
  }

  #tell(message: Notification): void {
    const { method, params, raw } = message;
    const path = ['params', '_meta', META.subscriptionId];
    const subscription = rawAt(raw, ...path);
    if (subscription !== undefined) {
      const call = this.#calls.get(JSON.parse(subscription));
      const change: Change = [path, call?.rawCallerId ?? ''];
      if (call?.method === LISTEN) call.answer.notify(withMembers(raw, change));
    } else if (method === 'notifications/progress') {
      this.#calls.progress(message);
    } else if (method === 'notifications/cancelled') {
      // A server may end only a subscription this way.
      const call = this.#calls.get(params['requestId']);
      if (call?.method === LISTEN) this.#calls.end(call);
    } else {
      // The notification does not name its call, so it is passed on only if exactly one call can be meant.
      const isLog = method === 'notifications/message';
      const takesIt = (call: Call<undefined>) => (isLog ? call.wantsLog : call.method !== LISTEN);
      const [call, ...others] = this.#calls.live().filter(takesIt);
      const isCertain = others.length === 0 && !this.#calls.cancelledCalls().some(takesIt);
      if (isCertain) call?.answer.notify(withMembers(raw));
    }
  }
}

/** The protocol version in a request's envelope. */
function versionOf({ params: { _meta } }: Request): unknown {
  return isObject(_meta) ? _meta[META.protocolVersion] : undefined;
}

/** The response of a modern server to another version, and to the handshake of the legacy era. */
function refuseVersion(request: Request): HttpAnswer {
  const requested = versionOf(request) ?? request.params['protocolVersion'];
  const data = { supported: [MODERN_VERSION], ...(requested === undefined ? {} : { requested }) };
  const rawId = request.raw.get('id') ?? 'null';
  const code = RPC.unsupportedProtocolVersion;
  return plainAnswer(400, errorText(rawId, code, 'Unsupported protocol version', data));
}
