/**
 * One attempt at a model behind an HTTP API: one POST; the answer, whole or as events, is checked by the dialect. Redirects are not
 * followed, so the key goes nowhere else. Everything is read up to a bound. The text of an error response is not passed on, as it may
 * reveal keys.
 */
import { parseWithin } from '../shared/json/json-spans.ts';
import { BodyTooLarge, isEventStream, readText } from '../http/read-text.ts';
import { toRetryAfterMs } from '../shared/util/retry-after.ts';
import { EventTooLarge } from '../http/sse-events.ts';
import { withoutEnd } from '../shared/util/without-end.ts';
import type { HttpApi } from './http-api.ts';
import { ModelFailure } from './model-port.ts';
import type { OneAttempt } from './one-attempt.ts';
import { toAborted, type Attempt } from './retry.ts';
import { readAs, readTurn } from './read-turn.ts';

export interface HttpChatOptions {
  api: HttpApi;
  /** Base address of the API, including the version. */
  url: string;
  model: string;
  /** The embedding model; absent where none is configured. */
  embedModel?: string | undefined;
  /** Looks the key up at each use. @throws ModelFailure `no_key` */
  findKey(): Promise<string | undefined>;
}

/** Largest non-streamed answer, in bytes. */
const MAX_BYTES = 8_388_608;
/** How much of an error response is read, in bytes. */
const MAX_REFUSAL_BYTES = 65_536;
/** Longest `Retry-After` that is honoured, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

export function createHttpChat(options: HttpChatOptions): OneAttempt {
  const { api, model, embedModel } = options;
  const { dialect, embeddings } = api;
  return {
    dialect,
    async chat(request, attempt, onText) {
      const isStreamed = onText !== undefined;
      const body = { ...api.toExtras(model, isStreamed), ...dialect.toRequest(request) };
      const response = await post(options, api.toPath(model, isStreamed), body, attempt);
      if (isStreamed && isEventStream(response)) {
        const { body: events } = response;
        if (!events) throw new ModelFailure('broken');
        const reader = dialect.createReader();
        return during(attempt.signal, () => readTurn(events, reader, attempt, onText));
      }
      const reply = await readWhole(response, attempt, answer => dialect.fromResponse(answer));
      // A server that cannot stream sends all text at once.
      if (isStreamed && reply.text !== '') onText(reply.text);
      return reply;
    },
    ...(embeddings && embedModel !== undefined
      ? {
          embed: {
            maxTexts: embeddings.maxTexts,
            async of(texts, attempt) {
              const body = embeddings.toBody(embedModel, texts);
              const response = await post(options, embeddings.toPath(embedModel), body, attempt);
              const vectors = await readWhole(response, attempt, embeddings.fromBody);
              if (vectors?.length !== texts.length) throw new ModelFailure('nonsense');
              return vectors;
            },
          },
        }
      : {}),
  };
}

/** Sends a request. @returns a 2xx response. @throws ModelFailure */
async function post(
  { api, url, findKey }: HttpChatOptions,
  path: string,
  body: object,
  { signal, onSign }: Attempt,
): Promise<Response> {
  const headers = { ...api.toHeaders(await findKey()), 'content-type': 'application/json' };
  const response = await during(signal, () =>
    fetch(`${withoutEnd(url, '/')}${path}`, {
      method: 'POST',
      headers,
      body: toBody(body),
      signal,
      redirect: 'manual',
    }),
  );
  onSign();
  if (!response.ok) throw await toFailure(response, api);
  return response;
}

/**
 * Returns a body as JSON with whole characters: APIs refuse half of a surrogate pair, which a tool may return and `JSON.stringify` writes as
 * an escape, always of lower case.
 */
const toBody = (body: object): string =>
  JSON.stringify(body).replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, escape =>
    escape.startsWith('\\ud') ? '\ufffd' : escape,
  );

/** Reports network failures as `unavailable`, oversized answers as `nonsense`, and an abort by its reason. */
async function during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (signal.aborted) throw toAborted(signal);
    if (thrown instanceof ModelFailure) throw thrown;
    const isTooMuch = thrown instanceof BodyTooLarge || thrown instanceof EventTooLarge;
    throw new ModelFailure(isTooMuch ? 'nonsense' : 'unavailable');
  }
}

async function readWhole<T>(
  response: Response,
  { signal }: Attempt,
  toAnswer: (body: unknown) => T,
): Promise<T> {
  const text = await during(signal, () => readText(response, response.headers, MAX_BYTES));
  let body: unknown;
  try {
    body = parseWithin(text);
  } catch {
    throw new ModelFailure('nonsense');
  }
  return readAs(() => toAnswer(body));
}

async function toFailure(response: Response, api: HttpApi): Promise<ModelFailure> {
  const { status, headers } = response;
  const retryAfterMs = toRetryAfterMs(headers, Date.now(), MAX_RETRY_AFTER_MS);
  if (status === 400 && api.isKeyRefusal) {
    const said = await readText(response, headers, MAX_REFUSAL_BYTES).catch(() => '');
    return new ModelFailure(api.isKeyRefusal(said) ? 'auth' : 'refused');
  }
  await response.body?.cancel().catch(() => {});
  if (status === 401 || status === 403) return new ModelFailure('auth');
  if (status === 404) return new ModelFailure('not_found');
  if (status === 429) return new ModelFailure('rate_limited', retryAfterMs);
  if (status === 408 || status >= 500) return new ModelFailure('unavailable', retryAfterMs);
  return new ModelFailure('refused');
}
