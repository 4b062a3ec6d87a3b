/**
 * One request of the gateway to one server of this machine, from its first frame to its last. The adapter's answer is read only as fast as
 * the gateway accepts it: first credit, then room in the socket. A channel ends exactly once, and then sends nothing more.
 */
import type { HttpAnswer } from './http-message.ts';
import { CHUNK_BYTES, toFrame, toJsonFrame } from '../../../src/upstream/connector/frames.ts';
import type { Payload } from '../../../src/upstream/connector/frames.ts';
import { FlowControl } from './flow-control.ts';
import { orAborted } from './or-aborted.ts';
import type { OutboundFetch } from './outbound-fetch.ts';
import type { HttpAdapter } from './stdio-http.ts';

/** Longest failure reason sent to the gateway, in characters. */
const MAX_FAILURE_CHARS = 500;

type ResetCode = Payload<'reset'>['code'];

export interface ChannelOptions {
  id: number;
  open: Payload<'open'>;
  adapter: HttpAdapter;
  outboundFetch: OutboundFetch;
  /** Called once, when the channel ended for any reason. */
  onEnd(): void;
}

export class Channel {
  readonly #options: ChannelOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #abort = new AbortController();
  readonly #flowControl = new FlowControl();
  #parts: Uint8Array[] | undefined = [];
  #bytes = 0;
  #hasHead = false;
  #isOver = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#headers = toLowerCase(options.open.headers);
  }

  /** Whether it is a notification stream, which ends only when its client leaves. */
  get isStanding(): boolean {
    const { method } = this.#options.open;
    return method === 'GET' || this.#headers['mcp-method'] === 'subscriptions/listen';
  }

  /** Bytes of an incomplete request that are buffered. */
  get requestBytes(): number {
    return this.#parts === undefined ? 0 : this.#bytes;
  }

  /** Takes a part of the request. @returns false where the request was already complete */
  data(payload: Uint8Array): boolean {
    if (!this.#parts) return false;
    this.#bytes += payload.length;
    this.#parts.push(payload.slice());
    return true;
  }

  /** The request is complete: passes it to the server, once. @returns false where it was already complete */
  end(): boolean {
    if (!this.#parts) return false;
    const body = Buffer.concat(this.#parts);
    this.#parts = undefined;
    this.#answer(body).catch(() => this.reset('failed', 'the server failed to answer'));
    return true;
  }

  give(bytes: number): void {
    this.#flowControl.give(bytes);
  }

  /** Ends the channel with a reason. */
  reset(code: ResetCode, message: string): void {
    if (this.#isOver) return;
    const { outboundFetch, id } = this.#options;
    outboundFetch.send(toJsonFrame('reset', id, { code, message }));
    this.close();
  }

  /** Ends the channel as if the server's answer were complete. */
  finish(): void {
    if (this.#isOver) return;
    if (!this.#hasHead) return this.reset('offline', 'the connector is stopping');
    this.#sendEnd();
    this.close();
  }

  /** Ends the channel without a frame, because the other side ended it or is gone. The server sees its client hang up. */
  close(): void {
    if (this.#isOver) return;
    this.#settle();
    this.#abort.abort();
    this.#flowControl.close();
  }

  #settle(): void {
    this.#isOver = true;
    this.#parts = undefined;
    this.#options.onEnd();
  }

  #sendEnd(): void {
    const { outboundFetch, id } = this.#options;
    outboundFetch.send(toFrame('end', id));
  }

  async #answer(body: Uint8Array): Promise<void> {
    const { open, adapter, id, outboundFetch } = this.#options;
    const { signal } = this.#abort;
    const headers = this.#headers;
    const answered = await orAborted(
      adapter.handle({ method: open.method, headers, body, signal }),
      signal,
      late => stopReading(late.body[Symbol.asyncIterator]()),
    );
    if (answered === 'aborted') return;
    const answer = answered.value;
    if (answer.failure !== undefined) {
      stopReading(answer.body[Symbol.asyncIterator]());
      return this.reset('failed', answer.failure.slice(0, MAX_FAILURE_CHARS));
    }
    const parts = answer.body[Symbol.asyncIterator]();
    const head = toHead(id, answer);
    if (!head) {
      stopReading(parts);
      return this.reset('failed', 'the headers of the response are too large');
    }
    await outboundFetch.sendInTurn(head, signal);
    this.#hasHead = true;
    for (;;) {
      const read = await orAborted(parts.next(), signal);
      if (read === 'aborted' || signal.aborted) return stopReading(parts);
      if (read.value.done === true) {
        this.#sendEnd();
        return this.#settle();
      }
      if (!(await this.#send(read.value.value))) return stopReading(parts);
    }
  }

  /** @returns false where the channel ended meanwhile */
  async #send(bytes: Uint8Array): Promise<boolean> {
    const { id, outboundFetch } = this.#options;
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      const piece = bytes.subarray(from, from + CHUNK_BYTES);
      if (!(await this.#flowControl.take(piece.length))) return false;
      await outboundFetch.sendInTurn(toFrame('data', id, piece), this.#abort.signal);
    }
    return !this.#abort.signal.aborted;
  }
}

function toHead(id: number, { status, headers }: HttpAnswer): Uint8Array<ArrayBuffer> | undefined {
  const head = toJsonFrame('head', id, { status, headers });
  return head.length > CHUNK_BYTES ? undefined : head;
}

function toLowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** Stops reading an answer. A generator that is busy sees the end when its current step is over. */
function stopReading(parts: AsyncIterator<Uint8Array>): void {
  parts.return?.().catch(() => {});
}
