/**
 * Opens the notification stream on which an upstream announces changes: `subscriptions/listen` in the modern era, the GET stream in the
 * legacy one. Resolves when the stream is open; `onNotification` gets every notification until it ends. A legacy server's pings are
 * answered; it has no other requests for a client without capabilities. Source: MCP 2026-07-28 Subscriptions; 2025-11-25 transports, ping.
 */
import { parseWithin } from '../../shared/json/json-spans.ts';
import { isEventStream } from '../../http/read-text.ts';
import { readEvents, whenAborted } from '../../http/sse-events.ts';
import { isObject, TASKS_EXTENSION } from '../../shared/protocol.ts';
import { idOf, toAnswerText } from '../protocol/message.ts';
import {
  nextRequestId,
  requestHeaders,
  requestText,
  type NegotiatedProtocol,
} from '../protocol/wire-request.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { postText } from '../server-messages.ts';
import { paced } from './stream-reader.ts';

export interface Listening {
  /** Settles when the stream has ended, for whatever reason. */
  ended: Promise<void>;
  /** Returns the resources or tasks that a modern server agreed to announce; undefined if it does not say so in time. */
  agreed(kind: 'resourceSubscriptions' | 'taskIds'): Promise<readonly string[] | undefined>;
}

const MAX_EVENT_CHARS = 1_048_576;
/** A server that does not open the stream within this time counts as one without it, in milliseconds. */
const OPEN_MS = 3_000;
/** A server that does not acknowledge within this time counts as one that does not answer, in milliseconds. */
const AGREE_MS = 3_000;
/** Most pings of a server that are answered at the same time. */
const MAX_PONGS = 20;
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** What to announce. A legacy server learns of the resources by requests of their own. */
export interface Wanted {
  /** `tools`, `resources`, `prompts`: the lists whose changes are wanted. */
  lists: readonly string[];
  uris: readonly string[];
  /** For a modern server only. */
  taskIds?: readonly string[];
}

/** @returns undefined if the server offers no such stream */
export async function listen(
  endpoint: UpstreamEndpoint,
  protocol: NegotiatedProtocol,
  wanted: Wanted,
  onNotification: (method: string, text: string) => void,
  signal: AbortSignal,
): Promise<Listening | undefined> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), OPEN_MS);
  signal.addEventListener('abort', () => controller.abort(), { once: true });
  const response = await endpoint
    .fetch(endpoint.url, {
      ...opening(endpoint, protocol, wanted),
      signal: controller.signal,
    })
    .catch(() => undefined);
  clearTimeout(timer);
  if (response?.status !== 200 || !isEventStream(response) || !response.body) {
    response?.body?.cancel().catch(() => {});
    return undefined;
  }
  const acknowledged = Promise.withResolvers<unknown>();
  let pongs = 0;
  const onMessage = (method: string, params: unknown, text: string) => {
    if (method === ACKNOWLEDGED) acknowledged.resolve(params ?? {});
    const pingId = protocol.era === 'legacy' && method === 'ping' ? idOf(text) : undefined;
    if (pingId !== undefined && pongs < MAX_PONGS) {
      pongs += 1;
      const answering = postText(endpoint, protocol, toAnswerText(pingId, { result: '{}' }));
      void answering.finally(() => (pongs -= 1));
    }
    onNotification(method, text);
  };
  const ended = readNotifications(response.body, onMessage, controller.signal);
  void ended.then(acknowledged.resolve);
  return {
    ended,
    async agreed(kind) {
      const late = setTimeout(acknowledged.resolve, AGREE_MS);
      const params = await acknowledged.promise;
      clearTimeout(late);
      if (params === undefined) return undefined;
      const filter = isObject(params) ? params['notifications'] : undefined;
      const listed = isObject(filter) ? filter[kind] : undefined;
      return Array.isArray(listed) ? listed.filter(each => typeof each === 'string') : [];
    },
  };
}

function opening(
  endpoint: UpstreamEndpoint,
  protocol: NegotiatedProtocol,
  { lists, uris, taskIds }: Wanted,
): RequestInit {
  if (protocol.era === 'legacy') {
    const headers = { ...requestHeaders(endpoint, protocol, ''), accept: 'text/event-stream' };
    return { method: 'GET', headers, redirect: 'manual' };
  }
  const method = 'subscriptions/listen';
  const filter = {
    ...Object.fromEntries(lists.map(list => [`${list}ListChanged`, true])),
    ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    ...(taskIds ? { taskIds } : {}),
  };
  const capabilities = taskIds ? { extensions: { [TASKS_EXTENSION]: {} } } : {};
  const params = new Map([['notifications', JSON.stringify(filter)]]);
  return {
    method: 'POST',
    headers: requestHeaders(endpoint, protocol, method),
    body: requestText({ method, params }, nextRequestId(), 'modern', capabilities),
    redirect: 'manual',
  };
}

async function readNotifications(
  body: ReadableStream<Uint8Array>,
  onMessage: (method: string, params: unknown, text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    const events = readEvents(body, MAX_EVENT_CHARS, undefined, whenAborted(signal));
    for await (const event of paced(events, signal)) {
      const message = parse(event.data);
      if (!isObject(message) || typeof message['method'] !== 'string') continue;
      onMessage(message['method'], message['params'], event.data);
    }
  } catch {
    // A broken stream counts as an ended one; the monitor opens the next.
  }
}

function parse(text: string): unknown {
  try {
    return parseWithin(text);
  } catch {
    return undefined;
  }
}
