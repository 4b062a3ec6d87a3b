/**
 * One run of a modern child as a Streamable HTTP server without sessions: each request is its own owner.
 * Source: MCP 2026-07-28, Streamable HTTP, stdio, and subscriptions.
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

  /** A request of a client. @param message its body, of a POST */
  handle(
    request: HttpRequest,
    message: ChildMessage | undefined,
  ): HttpAnswer | Promise<HttpAnswer> {
    if (request.method !== 'POST') return plainAnswer(405, '', { allow: 'POST' });
    if (message?.kind !== 'request') return plainAnswer(202);
    // One message without it would make a server of both eras a legacy one, for everybody.
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

  /** It has no sessions. */
  sessionIds(): string[] {
    return [];
  }

  capabilitiesOf(): undefined {
    return undefined;
  }

  /** Something the child said; it may not ask. */
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
      // The only request that a server may end so is a subscription.
      const call = this.#calls.get(params['requestId']);
      if (call?.method === LISTEN) this.#calls.end(call);
    } else {
      // It does not say which call it belongs to, so there must be only one that it can be for.
      const isLog = method === 'notifications/message';
      const takesIt = (call: Call<undefined>) => (isLog ? call.wantsLog : call.method !== LISTEN);
      const [call, ...others] = this.#calls.live().filter(takesIt);
      const isCertain = others.length === 0 && !this.#calls.cancelledCalls().some(takesIt);
      if (isCertain) call?.answer.notify(withMembers(raw));
    }
  }
}

/** The version that a request names in its envelope. */
function versionOf({ params: { _meta } }: Request): unknown {
  return isObject(_meta) ? _meta[META.protocolVersion] : undefined;
}

/** What a modern server answers to who speaks another version, also to the handshake of the other era. */
function refuseVersion(request: Request): HttpAnswer {
  const requested = versionOf(request) ?? request.params['protocolVersion'];
  const data = { supported: [MODERN_VERSION], ...(requested === undefined ? {} : { requested }) };
  const rawId = request.raw.get('id') ?? 'null';
  const code = RPC.unsupportedProtocolVersion;
  return plainAnswer(400, errorText(rawId, code, 'Unsupported protocol version', data));
}
