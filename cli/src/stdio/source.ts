/**
 * The MCP endpoint of a gateway over HTTP. Holds the token, which goes to this URL only: no redirect is followed. Splits responses of
 * either form into messages of one line each, with bounded length.
 */
import { BodyTooLarge, readText } from '../../../src/http/read-text.ts';
import { EventTooLarge, readEvents, type SseParser } from '../../../src/http/sse-events.ts';
import { sendWithToken, toSource, type TokenSource } from '../login/token-source.ts';
import { RelayError } from './refusal.ts';

/** Longest message passed to the host, in characters. */
const MAX_MESSAGE_CHARS = 33_554_432;
const MAX_REFUSAL_BYTES = 1_048_576;

export class GatewayEndpoint {
  readonly #url: URL;
  readonly #token: TokenSource;

  constructor(url: URL, token: string | TokenSource) {
    this.#url = url;
    this.#token = toSource(token);
  }

  get origin(): string {
    return this.#url.origin;
  }

  /** @throws TypeError where nothing could be sent, RelayError for a redirect */
  post(text: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const accept = 'application/json, text/event-stream';
    const all = { ...headers, 'content-type': 'application/json', accept };
    return this.#send({ method: 'POST', headers: all, body: text, signal });
  }

  /** Opens the notification stream of a session. */
  get(headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    return this.#send({
      method: 'GET',
      headers: { ...headers, accept: 'text/event-stream' },
      signal,
    });
  }

  /** Ends a session. */
  delete(headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    return this.#send({ method: 'DELETE', headers, signal });
  }

  async #send(init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const response = await sendWithToken(this.#token, authorization => {
      const headers = { ...init.headers, authorization };
      return fetch(this.#url, { ...init, headers, redirect: 'manual' });
    });
    if (response.status < 300 || response.status > 399) return response;
    await response.body?.cancel();
    throw new RelayError(
      'the gateway redirects, and redirects are not followed; use the target URL',
    );
  }
}

/**
 * Yields the messages of a response, each on one line, otherwise unchanged.
 * @param parser keeps the position in an event stream
 * @throws RelayError where the response holds no messages; the connection's error where it breaks off
 */
export async function* readMessages(
  response: Response,
  parser?: SseParser,
): AsyncGenerator<string, void, undefined> {
  const type = response.headers.get('content-type') ?? '';
  try {
    if (/^text\/event-stream\b/i.test(type)) {
      if (!response.body) return;
      for await (const { event, data } of readEvents(response.body, MAX_MESSAGE_CHARS, parser)) {
        if (event === 'message' && data !== '') yield toLine(data);
      }
      return;
    }
    const text = await readText(response, response.headers, MAX_MESSAGE_CHARS);
    if (text.trim() === '') return;
    if (!/^application\/json\b/i.test(type)) {
      throw new RelayError('the response is neither JSON nor an event stream; see PORTICO_URL');
    }
    yield toLine(text);
  } catch (error) {
    if (!(error instanceof BodyTooLarge) && !(error instanceof EventTooLarge)) throw error;
    throw new RelayError('the response is too large for one line');
  }
}

/** The body of an unsuccessful response on one line; empty where it is too long or cannot be read. */
export async function readRefusal(response: Response): Promise<string> {
  return readText(response, response.headers, MAX_REFUSAL_BYTES).then(toLine, () => '');
}

/** In JSON a line end can only be white space between tokens. */
function toLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
