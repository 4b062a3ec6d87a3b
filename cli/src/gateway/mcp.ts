/**
 * Client for single MCP requests to a gateway's endpoint, in the era without sessions (2026-07-28): what `tools` and `call` need.
 * Notifications are passed on as they arrive; a call is sent once.
 */
import { fromRawMembers, rawMembers, tryJson } from '../../../src/shared/json/json-spans.ts';
import {
  IMPLEMENTATION,
  isObject,
  META,
  MODERN_VERSION,
  type JsonObject,
} from '../../../src/shared/protocol.ts';
import { EXIT, Failure } from '../failure.ts';
import type { TokenSource } from '../login/token-source.ts';
import { Delivery } from '../stdio/delivery.ts';
import { GatewayEndpoint, readMessages, readRefusal } from '../stdio/source.ts';
import { parseMessage, type HostRequest } from '../stdio/message.ts';
import { refusedByGateway, toRelayError } from '../stdio/refusal.ts';
import { Session } from '../stdio/session.ts';

/** Most pages of tools to read. */
const MAX_PAGES = 1_000;
const DENIED = new Set([401, 403]);

/** A tool as its server describes it, under its name at the endpoint. */
export interface Tool extends JsonObject {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: JsonObject;
}

/** The result of a request. */
export interface Answer {
  result: JsonObject;
  /** The raw JSON, in which numbers keep all their digits. */
  text: string;
}

export type OnNotification = (method: string, params: JsonObject) => void;

export interface RequestOptions {
  onNotification?: OnNotification;
  /** Hangs up, which cancels the request. */
  signal?: AbortSignal;
  /** Members of `_meta` in addition to those of every request. */
  meta?: JsonObject;
}

export class Mcp {
  readonly #gatewayEndpoint: GatewayEndpoint;
  readonly #delivery: Delivery;
  readonly #capabilities: JsonObject;

  /** @param capabilities the client capabilities: server requests that the user of this command can answer */
  constructor(endpoint: URL, token: string | TokenSource, capabilities: JsonObject = {}) {
    this.#capabilities = capabilities;
    this.#gatewayEndpoint = new GatewayEndpoint(endpoint, token);
    this.#delivery = new Delivery(
      this.#gatewayEndpoint,
      new Session(this.#gatewayEndpoint, () => {}),
    );
  }

  /** @throws Failure */
  async listTools(): Promise<Tool[]> {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = new Map<string, string>();
      if (cursor !== undefined) params.set('cursor', JSON.stringify(cursor));
      const { result } = await this.request('tools/list', params);
      this.#delivery.learn(result);
      tools.push(...((result['tools'] ?? []) as Tool[]));
      if (typeof result['nextCursor'] !== 'string') break;
      cursor = result['nextCursor'];
    }
    return tools;
  }

  /**
   * Sends one request and returns its result.
   * @param params raw JSON by key
   * @throws Failure with the message of the gateway or the server
   */
  async request(
    method: string,
    params: ReadonlyMap<string, string>,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const { onNotification, signal = new AbortController().signal, meta } = options;
    const request = toRequest(method, params, { ...meta, ...toMeta(this.#capabilities) });
    let hasAnswer = false;
    try {
      const response = await this.#delivery.request(request, signal);
      hasAnswer = true;
      const messages = response.ok ? readMessages(response) : [await readRefusal(response)];
      for await (const text of messages) {
        const message = parse(text);
        if (!response.ok && !isObject(message?.['error'])) {
          throw refusedByGateway(response.status, message);
        }
        if (!message) continue;
        if (isObject(message['error'])) throw toFailure(message['error'], response.status);
        if (isObject(message['result'])) {
          return { result: message['result'], text: rawMembers(text).get('result') ?? '{}' };
        }
        const told = message['params'];
        onNotification?.(String(message['method']), isObject(told) ? told : {});
      }
    } catch (error) {
      if (error instanceof Failure) throw error;
      signal.throwIfAborted();
      throw new Failure(toRelayError(error, this.#gatewayEndpoint.origin, hasAnswer).message);
    }
    throw new Failure('the response of the gateway ended without a result');
  }
}

const toMeta = (capabilities: JsonObject): JsonObject => ({
  [META.protocolVersion]: MODERN_VERSION,
  [META.clientInfo]: { name: 'portico-cli', version: IMPLEMENTATION.version },
  [META.clientCapabilities]: capabilities,
  progressToken: 'progress',
});

function toRequest(
  method: string,
  params: ReadonlyMap<string, string>,
  meta: JsonObject,
): HostRequest {
  const all = new Map([...params, ['_meta', JSON.stringify(meta)]]);
  const head = `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)}`;
  const message = parseMessage(`${head},"params":${fromRawMembers(all)}}`);
  if (message.kind === 'request') return message;
  throw new Failure('the request cannot be written');
}

function parse(text: string): JsonObject | undefined {
  const message = tryJson(text);
  return isObject(message) ? message : undefined;
}

function toFailure({ message, code }: JsonObject, status: number): Failure {
  if (status === 401)
    return new Failure('the gateway does not know the token; see PORTICO_TOKEN', EXIT.denied);
  const said = typeof message === 'string' ? message : `the call failed (${String(code)})`;
  return new Failure(said, DENIED.has(status) ? EXIT.denied : EXIT.failed);
}
