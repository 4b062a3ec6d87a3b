/**
 * Sends the host's messages to the gateway with their headers. A message is sent a second time only if it was refused before it had any
 * effect: because the gateway forgot the session (404), or because headers are missing that a tool wants mirrored (400 with -32020).
 */
import { fromRawMembers, rawMembers, tryJson } from '../../../src/shared/json/json-spans.ts';
import { isObject, RPC, type JsonObject } from '../../../src/shared/protocol.ts';
import { readMessages, type GatewayEndpoint } from './source.ts';
import { legacyHeaders, modernHeaders } from './headers.ts';
import type { HostRequest } from './message.ts';
import { MirroredParams } from './mirrored-params.ts';
import type { Session } from './session.ts';

/** Most pages of tools to search for one tool. */
const MAX_PAGES = 100;
const MAX_HELD_CHARS = 65_536;

export class Delivery {
  readonly #gatewayEndpoint: GatewayEndpoint;
  readonly #session: Session;
  readonly #mirrored = new MirroredParams();

  constructor(gatewayEndpoint: GatewayEndpoint, session: Session) {
    this.#gatewayEndpoint = gatewayEndpoint;
    this.#session = session;
  }

  /** Remembers mirrored parameters from a tool list that passes through. */
  learn(result: JsonObject): void {
    this.#mirrored.learn(result);
  }

  /** Sends a request of either era. */
  async request(request: HostRequest, signal: AbortSignal): Promise<Response> {
    if (request.era === 'legacy') return this.legacy(request.text, signal);
    const response = await this.#modern(request, signal);
    if (response.status !== 400 || request.method !== 'tools/call') return response;
    const body = (await response.text()).slice(0, MAX_HELD_CHARS);
    if (codeOf(body) !== RPC.headerMismatch) return new Response(body, response);
    await this.#learnTools(request, signal);
    return this.#modern(request, signal);
  }

  /** Sends a message of the legacy era, in the session if there is one. */
  async legacy(text: string, signal: AbortSignal): Promise<Response> {
    const session = this.#session.current;
    const response = await this.#gatewayEndpoint.post(text, legacyHeaders(session), signal);
    if (response.status !== 404 || session?.id === undefined) return response;
    await response.body?.cancel();
    const fresh = await this.#session.reopen(session);
    return this.#gatewayEndpoint.post(text, legacyHeaders(fresh), signal);
  }

  #modern(request: HostRequest, signal: AbortSignal): Promise<Response> {
    const mirrored =
      request.method === 'tools/call' ? this.#mirrored.of(request.params['name']) : [];
    return this.#gatewayEndpoint.post(request.text, modernHeaders(request, mirrored), signal);
  }

  /** Reads the gateway's tool list with the `_meta` of the call, to find out what its tools mirror. */
  async #learnTools(call: HostRequest, signal: AbortSignal): Promise<void> {
    const meta = rawMembers(rawMembers(call.text).get('params') ?? '{}').get('_meta') ?? '{}';
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = new Map([['_meta', meta]]);
      if (cursor !== undefined) params.set('cursor', JSON.stringify(cursor));
      const method = 'tools/list';
      const head = `{"jsonrpc":"2.0","id":"portico-tools-${page}","method":"${method}"`;
      const text = `${head},"params":${fromRawMembers(params)}}`;
      const list: HostRequest = { ...call, text, method, params: {} };
      const result = await this.#listed(list, signal);
      if (!result) return;
      this.learn(result);
      if (typeof result['nextCursor'] !== 'string') return;
      cursor = result['nextCursor'];
    }
  }

  async #listed(list: HostRequest, signal: AbortSignal): Promise<JsonObject | undefined> {
    let result: unknown;
    for await (const text of readMessages(await this.#modern(list, signal))) {
      const message: unknown = JSON.parse(text);
      if (isObject(message) && 'result' in message) result = message['result'];
    }
    return isObject(result) ? result : undefined;
  }
}

/** Returns the code of the JSON-RPC error in a body. */
function codeOf(body: string): unknown {
  const message = tryJson(body);
  const error = isObject(message) ? message['error'] : undefined;
  return isObject(error) ? error['code'] : undefined;
}
