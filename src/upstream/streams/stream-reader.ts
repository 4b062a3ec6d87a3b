/**
 * Reads the GET stream of a session at a legacy server; the server's messages there are not tied to a call (2025-11-25, transports,
 * Listening for Messages from the Server). A stream that breaks is resumed where it stopped, after a pause that grows while that fails.
 *
 * Invariants: one request at a time; a server that offers no stream is not asked again; a server may not know yet that its former stream
 * was closed, so a conflict is retried for a moment.
 */
import { isEventStream } from '../../http/read-text.ts';
import {
  readEvents,
  whenAborted,
  SseParser,
  type Resumption,
  type SseEvent,
} from '../../http/sse-events.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { parseMessage, type UpstreamMessage } from '../protocol/message.ts';
import { requestHeaders, type NegotiatedProtocol } from '../protocol/wire-request.ts';
import { pause } from '../../shared/util/pause.ts';

/** `none`: the server offers no such stream; `closed`: it cannot be opened now. */
export type StreamState = 'open' | 'none' | 'closed';

export interface StreamReading {
  /** Returns the present endpoint of the server. @throws if there is none any more */
  endpoint(): UpstreamEndpoint | Promise<UpstreamEndpoint>;
  protocol: NegotiatedProtocol;
  maxBytes: number;
  take(message: UpstreamMessage): void;
  /** Most attempts in a row to resume a stream without success. */
  maxFailures: number;
  /** Longest pause between two of them, in milliseconds. */
  maxRestMs: number;
  /** Ends the reading. */
  signal: AbortSignal;
  /** Called when nothing more is read, unless the signal ended it. */
  onEnd(): void;
}

/** How often a stream for calls is resumed, and with which pauses. */
export const FOR_CALLS = { maxFailures: 5, maxRestMs: 30_000 };

/** Statuses of a server without such streams. */
const NO_STREAM = new Set([404, 405, 501]);
const OPEN_MS = 10_000;
/**
 * Pause before a stream is resumed if the server names none, and the shortest one that it may name, in milliseconds. A shorter one than the
 * first grows like that of a failure.
 */
const REST_MS = 1_000;
const MIN_REST_MS = 100;
/** A stream that was open this long counts as a success, in milliseconds. */
const LASTING_MS = 10_000;
/** If a server has another stream open in this session, it is asked again after this time, in milliseconds, and this often at most. */
const CONFLICT_MS = 100;
const MAX_CONFLICTS = 10;

/** Most events of a notification stream that are read in a second; one counts once more for each of so many characters. */
const MAX_PER_SECOND = 1_000;
const COUNTED_CHARS = 8_192;
const SECOND_MS = 1_000;

type Opened = ReadableStream<Uint8Array> | 'none' | 'closed';

/** Opens a stream and reads it in the background. @returns once it is open, or has failed to open */
export async function openReading(reading: StreamReading): Promise<StreamState> {
  const body = await get(reading, '');
  if (body instanceof ReadableStream) void read(body, reading);
  return body instanceof ReadableStream ? 'open' : body;
}

async function get(reading: StreamReading, lastEventId: string): Promise<Opened> {
  for (let conflicts = 0; ; conflicts += 1) {
    const opened = await getOnce(reading, lastEventId);
    if (opened !== 'conflict') return opened;
    if (conflicts === MAX_CONFLICTS) return 'closed';
    await pause(CONFLICT_MS, reading.signal);
  }
}

async function getOnce(
  { endpoint, protocol, signal }: StreamReading,
  lastEventId: string,
): Promise<Opened | 'conflict'> {
  if (signal.aborted) return 'closed';
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  const timer = setTimeout(abort, OPEN_MS);
  signal.addEventListener('abort', abort, { once: true });
  const fetching = async () => {
    const to = await endpoint();
    const { 'content-type': _unused, ...headers } = requestHeaders(to, protocol, '');
    const resuming = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    return to.fetch(to.url, {
      headers: { ...headers, accept: 'text/event-stream', ...resuming },
      redirect: 'manual',
      signal: attempt.signal,
    });
  };
  const response = await fetching().catch(() => undefined);
  clearTimeout(timer);
  // From here on the reader of the body listens; the signal outlives many attempts.
  signal.removeEventListener('abort', abort);
  if (response?.status === 200 && isEventStream(response) && response.body) return response.body;
  response?.body?.cancel().catch(() => {});
  if (response?.status === 409) return 'conflict';
  return NO_STREAM.has(response?.status ?? 0) ? 'none' : 'closed';
}

async function read(opened: ReadableStream<Uint8Array>, reading: StreamReading): Promise<void> {
  const { signal, maxBytes, maxFailures, maxRestMs, onEnd } = reading;
  let body: Opened = opened;
  let resumption: Resumption = { lastEventId: '', retryMs: undefined };
  for (let failures = 0; failures < maxFailures && body !== 'none'; failures += 1) {
    if (body instanceof ReadableStream) {
      const openedAt = Date.now();
      const parser = new SseParser(maxBytes, resumption);
      const isFine = await readMessages(body, parser, reading);
      if (isFine || Date.now() - openedAt >= LASTING_MS) failures = 0;
      resumption = parser.resumption;
    }
    if (signal.aborted) return;
    const { lastEventId, retryMs = REST_MS } = resumption;
    const restMs = Math.max(retryMs, MIN_REST_MS) * 2 ** failures;
    await pause(Math.min(restMs, maxRestMs), signal);
    if (signal.aborted) return;
    body = await get(reading, lastEventId);
  }
  if (body instanceof ReadableStream) await body.cancel().catch(() => {});
  if (!signal.aborted) onEnd();
}

/**
 * @returns whether a message came, or the stream ended in good order after its server had said when to resume it: it has the stream polled
 * (2025-11-25, transports, Sending Messages to the Server)
 */
async function readMessages(
  body: ReadableStream<Uint8Array>,
  parser: SseParser,
  { maxBytes, signal, take }: StreamReading,
): Promise<boolean> {
  let hasMessage = false;
  try {
    const events = readEvents(body, maxBytes, parser, whenAborted(signal));
    for await (const { event, data } of paced(events, signal)) {
      const message = event === 'message' ? parse(data) : undefined;
      if (!message) continue;
      hasMessage = true;
      take(message);
    }
    const { retryMs = 0 } = parser.resumption;
    return hasMessage || retryMs >= REST_MS;
  } catch {
    // A broken stream counts as an ended one: it is resumed.
  }
  return hasMessage;
}

/**
 * Yields events, only so many in a second: nobody waits for what they cause here, so a server that never stops would cause more and more of
 * it. While it waits, the server is not read.
 */
export async function* paced(
  events: AsyncIterable<SseEvent>,
  signal: AbortSignal,
): AsyncGenerator<SseEvent, void, undefined> {
  let since = Date.now();
  let count = 0;
  for await (const event of events) {
    const now = Date.now();
    if (now - since >= SECOND_MS) [since, count] = [now, 0];
    count += 1 + event.data.length / COUNTED_CHARS;
    yield event;
    if (count >= MAX_PER_SECOND) await pause(since + SECOND_MS - Date.now(), signal);
    if (signal.aborted) return;
  }
}

/** Parses a message. Responses do not belong here, and what is no message is skipped. */
function parse(data: string): UpstreamMessage | undefined {
  try {
    return parseMessage(data, '');
  } catch {
    return undefined;
  }
}
