/**
 * The HTTP answer to one request of a client, made while the child works: `application/json` where the response comes first, an
 * event stream where something else does. The head is fixed with the first of it.
 */
import type { HttpAnswer } from './http-message.ts';
import { EventStream, type Room } from './event-stream.ts';
import type { Limits } from './limits.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

export class Answer {
  /** Settles with the first message, or with the end. */
  readonly http: Promise<HttpAnswer>;
  readonly #body: EventStream;
  #begin: (status: number, headers: Record<string, string>) => void = () => {};
  #hasBegun = false;

  constructor(room: Room, limits: Limits) {
    this.#body = new EventStream(room, limits);
    this.http = new Promise(resolve => {
      this.#begin = (status, headers) => {
        if (this.#hasBegun) return;
        this.#hasBegun = true;
        resolve({ status, headers, body: this.#body });
      };
    });
  }

  /** A message before the response. @returns false where it cannot be given */
  notify(text: string): boolean {
    if (this.#body.hasEnded) return false;
    this.#begin(200, { ...STREAM });
    return this.#body.push(text);
  }

  /** The response, and with it the end. @param status where nothing was sent yet */
  finish(text: string, status = 200): void {
    if (this.#hasBegun) return this.#body.finish(text);
    this.#begin(status, { ...JSON_TYPE });
    this.#body.finishPlain(text);
  }

  /** The end, without a response. */
  end(): void {
    this.#begin(200, { ...STREAM });
    this.#body.end();
  }

  /** The client has hung up. */
  drop(): void {
    this.#begin(200, { ...STREAM });
    this.#body.drop();
  }
}

/** An answer that is there at once. */
export function plainAnswer(
  status: number,
  text = '',
  headers: Record<string, string> = {},
): HttpAnswer {
  const type = text === '' ? {} : JSON_TYPE;
  return { status, headers: { ...type, ...headers }, body: once(text) };
}

/** An event stream that stays open. */
export function streamAnswer(body: EventStream): HttpAnswer {
  return { status: 200, headers: { ...STREAM }, body };
}

async function* once(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  if (text !== '') yield new TextEncoder().encode(text);
}
