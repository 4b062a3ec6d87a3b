/** An open stream of either era, read as it comes: its notifications, and when it ends. */
import { until } from '../../fixtures/start-fixture.ts';
import { headersFor, modernHeaders, openLegacy, requestBody } from './raw-client.ts';
import type { Era, Target } from './raw-client.ts';

export interface Heard {
  /** Methods of the notifications so far, in order. */
  methods(): string[];
  /** Ids of the events so far, in order. */
  ids(): string[];
  isOver(): boolean;
  close(): void;
}

const LISTS = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };

/** Opens the stream on which a client is notified of its lists; resolves once it is open. */
export async function hear(era: Era, target: Target): Promise<Heard> {
  const controller = new AbortController();
  const response = await (era === 'legacy'
    ? openGet(target, controller.signal)
    : openListen(target, controller.signal));
  if (response.status !== 200 || !response.body) {
    throw new Error(`${response.status} ${await response.text()}`);
  }
  let text = '';
  let isOver = false;
  let onFirst = (): void => undefined;
  const first = new Promise<void>(resolve => (onFirst = resolve));
  const read = async (body: ReadableStream<Uint8Array>) => {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      onFirst();
    }
  };
  void read(response.body)
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
      onFirst();
    });
  await first;
  const methods = () =>
    [...text.matchAll(/"method":"([^"]+)"/gu)]
      .map(match => match[1] ?? '')
      .filter(method => method !== 'notifications/subscriptions/acknowledged');
  return {
    methods,
    ids: () => [...text.matchAll(/^id: (.+)$/gmu)].map(match => match[1] ?? ''),
    isOver: () => isOver,
    close: () => controller.abort(),
  };
}

/**
 * Makes changes one after the other, each of which changes the tools of one server. Returns when all notifications have been sent, so that
 * streams opened later receive none of them.
 */
export async function settleNews(
  target: Target,
  acts: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const stream = await hear('modern', target);
  const count = () =>
    stream.methods().filter(method => method === 'notifications/tools/list_changed').length;
  for (const [i, act] of acts.entries()) {
    await act();
    await until('it is told', 60_000, async () => (count() > i ? true : undefined));
  }
  stream.close();
}

async function openGet(target: Target, signal: AbortSignal): Promise<Response> {
  const { sessionId = '' } = await openLegacy(target);
  const more = { accept: 'text/event-stream', 'content-type': null, 'mcp-session-id': sessionId };
  return fetch(target.url, { headers: headersFor(target, more), signal });
}

function openListen(target: Target, signal: AbortSignal): Promise<Response> {
  const method = 'subscriptions/listen';
  const params = JSON.stringify({ notifications: LISTS });
  const init = {
    method: 'POST',
    headers: headersFor(target, modernHeaders(method)),
    body: requestBody('modern', method, params, 1),
  };
  return fetch(target.url, { ...init, signal });
}
