/**
 * Client of a gateway's REST API. An unsuccessful response becomes a `Failure` of one line with the matching exit code. The token goes to
 * the gateway only: no redirect is followed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { TokenViewSchema } from '../../../src/access/tokens/token-schema.ts';
import { readEvents, whenAborted, type SseEvent } from '../../../src/http/sse-events.ts';
import { isObject } from '../../../src/shared/protocol.ts';
import { EXIT, Failure } from '../failure.ts';
import { sendWithToken, toSource, type TokenSource } from '../login/token-source.ts';
import { reasonOf } from '../stdio/refusal.ts';
import { tryJson } from '../../../src/shared/json/json-spans.ts';
import { nearestName } from '../../../src/shared/util/nearest-name.ts';

const TIMEOUT_MS = 60_000;
const PAGE_SIZE = 500;
/** Largest event of a stream, in characters. */
const MAX_EVENT_CHARS = 4_194_304;
/** Most pages read of a list. */
const MAX_PAGES = 1_000;
const MAX_TRIES = 5;
const RETRY_MS = 250;
/** For shorter names than this no similar one is suggested: almost any would be similar. */
const MIN_NEAR_CHARS = 4;

/** A server: the fields that are used here. */
export interface ServerRecord {
  id: string;
  name: string;
  status: string;
  transport_type: string;
  connection_config: { url?: string };
  tool_count: number;
  held_tools: number;
  last_error: string | null;
  health: { state: string };
}

export type TokenRecord = z.infer<typeof TokenViewSchema>;

export const SERVERS = '/api/v1/aggregator/servers';
export const TOKENS = '/api/v1/tokens';
/** The path that describes the requesting token. */
export const OWN_TOKEN = '/api/v1/token';
export interface OwnToken {
  id: string;
  principal: string;
  scopes: string[];
  /** Whether it is limited to some servers, tools or toolsets. */
  limited: boolean;
}

/** Body of an unsuccessful response. */
interface Problem {
  detail?: string;
  title?: string;
  errors?: { field: string; message: string }[];
}

/** There was no response, so it is unknown whether anything was done. */
export class Unanswered extends Failure {}
/** The gateway is busy, and nothing was done. */
class Busy extends Failure {}

export class Api {
  readonly #origin: string;
  readonly #token: TokenSource | undefined;

  constructor(url: URL, token: string | TokenSource | undefined) {
    this.#origin = url.origin;
    this.#token = token === undefined ? undefined : toSource(token);
  }

  get origin(): string {
    return this.#origin;
  }

  /** Returns the response, whatever its status. @throws Failure where there is none */
  async send(
    method: string,
    path: string,
    text?: string,
    signal: AbortSignal = AbortSignal.timeout(TIMEOUT_MS),
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const ask = (credential: Record<string, string>) =>
      fetch(`${this.#origin}${path}`, {
        method,
        redirect: 'manual',
        signal,
        headers: {
          ...headers,
          ...credential,
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(text === undefined ? {} : { body: text }),
      });
    try {
      if (!this.#token) return await ask({});
      return await sendWithToken(this.#token, authorization => ask({ authorization }));
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (signal.reason instanceof Failure) throw signal.reason;
      throw this.#unanswered(error);
    }
  }

  #unanswered(error: unknown): Unanswered {
    const hint = 'is it running, and is --url right? see portico doctor';
    return new Unanswered(`${this.#origin} cannot be reached (${reasonOf(error)}); ${hint}`);
  }

  /** Returns the JSON of a response. @throws Failure where it is not a success */
  async json<T>(
    method: string,
    path: string,
    text?: string,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<T> {
    const response = await this.send(method, path, text, signal, headers);
    if (!response.ok) throw await toFailure(response, this.#origin);
    const body = await response.text().catch((error: unknown) => {
      throw this.#unanswered(error);
    });
    if (body === '' && method === 'DELETE') return undefined as T;
    const json = tryJson(body);
    if (!isObject(json)) throw this.#noGateway();
    return json as T;
  }

  #noGateway(): Failure {
    return new Failure(`${this.#origin} is not a Portico gateway; is --url right?`);
  }

  /**
   * Returns the JSON of a response to a request that may be repeated: retries if the gateway is busy or cannot be reached.
   * @throws Failure where it is not a success; the reason of `signal` once that aborts
   */
  async withRetries<T>(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<T> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    for (let tries = 1; ; tries += 1) {
      try {
        const late = AbortSignal.timeout(TIMEOUT_MS);
        const ends = signal ? AbortSignal.any([signal, late]) : late;
        return await this.json<T>(method, path, text, undefined, ends);
      } catch (error) {
        signal?.throwIfAborted();
        const mayPass = error instanceof Unanswered || error instanceof Busy;
        if (!mayPass || tries === MAX_TRIES) throw error;
      }
      await pause(RETRY_MS * 2 ** tries, undefined, { signal });
    }
  }

  post<T>(path: string, body: unknown = {}): Promise<T> {
    return this.json<T>('POST', path, JSON.stringify(body));
  }

  /**
   * Yields the events of a response as they arrive.
   * @param signal hangs up; its reason is thrown if that is a `Failure`
   * @throws Failure where the response is not a success, or breaks off
   */
  async *events(
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): AsyncGenerator<SseEvent, void, undefined> {
    const response = await this.send('POST', path, JSON.stringify(body), signal);
    if (!response.ok) throw await toFailure(response, this.#origin);
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
      throw this.#noGateway();
    }
    try {
      yield* readEvents(response.body, MAX_EVENT_CHARS, undefined, whenAborted(signal));
    } catch (error) {
      if (signal.reason instanceof Failure) throw signal.reason;
      throw new Failure(`the response of the gateway broke off (${reasonOf(error)})`);
    }
    if (signal.reason instanceof Failure) throw signal.reason;
  }

  /** Yields the text of a long response as it arrives. @throws Failure where it is not a success, or breaks off */
  async *read(path: string): AsyncGenerator<string, void, undefined> {
    const response = await this.send('GET', path, undefined, new AbortController().signal);
    if (!response.ok) throw await toFailure(response, this.#origin);
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) yield decoder.decode(chunk, { stream: true });
    } catch (error) {
      throw new Failure(`the response of the gateway broke off (${reasonOf(error)})`);
    }
  }

  /** Returns the items of a list. @param member of a page that holds them @param filter of the list @param most all if absent */
  async list<T>(
    path: string,
    member: string,
    filter: Record<string, string> = {},
    most?: string,
  ): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = new URLSearchParams({ ...filter, limit: most ?? String(PAGE_SIZE) });
      if (cursor !== undefined) query.set('cursor', cursor);
      const answer = await this.json<Record<string, unknown>>('GET', `${path}?${query}`);
      const found = answer[member];
      if (!Array.isArray(found) || !found.every(isObject)) throw this.#noGateway();
      items.push(...(found as T[]));
      if (typeof answer['next_cursor'] !== 'string' || items.length >= Number(most)) break;
      cursor = answer['next_cursor'];
    }
    return most === undefined ? items : items.slice(0, Number(most));
  }
}

/**
 * The header that prevents overwriting another change: the write applies only to the revision that was read, or only if there is no record
 * yet.
 */
export const ifStill = (revision: number | undefined): Record<string, string> =>
  revision === undefined ? { 'if-none-match': '*' } : { 'if-match': `"r${revision}"` };

/** The command that lists records of a kind. */
const listOf = (noun: string): string =>
  noun === 'token' ? 'portico token list' : `portico ${noun}s`;

/**
 * Finds the one record with this name or id.
 * @throws Failure where there is none, or several with the name
 */
export function findRecord<T extends { id: string; name: string }>(
  what: string,
  wanted: string,
  records: readonly T[],
): T {
  const byId = records.find(({ id }) => id === wanted);
  if (byId) return byId;
  const [found, other] = records.filter(({ name }) => name === wanted);
  if (other) throw new Failure(`several ${what}s are called '${wanted}'; use the id`, EXIT.usage);
  if (found) return found;
  const names = records.map(({ name }) => name);
  const near = wanted.length < MIN_NEAR_CHARS ? undefined : nearestName(wanted, names);
  const hint = near === undefined ? `see ${listOf(what)}` : `did you mean '${near}'?`;
  throw new Failure(`there is no ${what} '${wanted}'; ${hint}`, EXIT.notFound);
}

/** Finds a token by its name or id. @throws Failure where there is none, or several with the name */
export const findToken = async (api: Api, wanted: string): Promise<TokenRecord> =>
  findRecord('token', wanted, await api.list<TokenRecord>(TOKENS, 'tokens'));

const EXIT_OF: Readonly<Record<number, number>> = {
  400: EXIT.usage,
  422: EXIT.usage,
  401: EXIT.denied,
  403: EXIT.denied,
  404: EXIT.notFound,
};

async function toFailure(response: Response, origin: string): Promise<Failure> {
  const { status } = response;
  if (status === 401) {
    return new Failure(`${origin} does not know the token; see PORTICO_TOKEN`, EXIT.denied);
  }
  const problem: unknown = await response.json().catch(() => undefined);
  const { detail, title, errors } = (problem ?? {}) as Problem;
  const fields = (errors ?? []).map(({ field, message }) => `${field}: ${message}`).join('; ');
  const said = fields || (detail ?? title) || `the gateway answered ${status}`;
  if (status === 429 || status >= 500) return new Busy(said);
  return new Failure(said, EXIT_OF[status] ?? EXIT.failed);
}
