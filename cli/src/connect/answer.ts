/**
 * The HTTP answer to one request of a client while the child works on it: `application/json` if the response comes first, an event stream
 * if another message does. The first message fixes status and headers.
 */
import type { HttpAnswer } from './http-message.ts';
import { EventStream, type Room } from './event-stream.ts';
import type { Limits } from './limits.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

export class Answer {
  /** Settles with the first message, or at the end. */
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

  /** Sends a message before the response. @returns false where it cannot be sent */
  notify(text: string): boolean {
    if (this.#body.hasEnded) return false;
    this.#begin(200, { ...STREAM });
    return this.#body.push(text);
  }

  /** Sends the response and ends the answer. @param status used if nothing was sent before */
  finish(text: string, status = 200): void {
    if (this.#hasBegun) return this.#body.finish(text);
    this.#begin(status, { ...JSON_TYPE });
    this.#body.finishPlain(text);
  }

  /** Ends the answer without a response. */
  end(): void {
    this.#begin(200, { ...STREAM });
    this.#body.end();
  }

  /** The client has hung up; drops what is not sent yet. */
  drop(): void {
    this.#begin(200, { ...STREAM });
    this.#body.drop();
  }
}

/** A complete answer. */
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
