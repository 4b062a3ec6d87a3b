/**
 * Open streams for tests: an event stream of the Worker, parsed event by event, with the ids. It is read in the background, so that a test
 * can wait for events.
 */
import { expect, vi } from 'vitest';
import { PATIENT, modern, type Portico, type Sent, inSession } from './portico.ts';

export interface Event {
  id: string | undefined;
  event: string | undefined;
  data: string | undefined;
}

export interface OpenStream {
  response: Response;
  events: Event[];
  /** Comments seen. */
  comments: string[];
  /** JSON-RPC messages seen, parsed. */
  messages(): Message[];
  methods(): (string | undefined)[];
  /** Waits until this many messages have arrived. */
  until(count: number): Promise<Message[]>;
  /** The id of the last event. */
  lastId(): string;
  ended(): boolean;
  close(): Promise<void>;
}

export interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown> & { _meta?: Record<string, unknown> };
  result?: Record<string, unknown>;
}

function parseBlock(block: string): Event & { comment: string | undefined } {
  const field = (name: string) => {
    const lines = block.split('\n').filter(line => line.startsWith(`${name}:`));
    return lines.length === 0
      ? undefined
      : lines.map(line => line.slice(name.length + 1).replace(/^ /u, '')).join('\n');
  };
  return { id: field('id'), event: field('event'), data: field('data'), comment: field('') };
}

/** Reads an event stream until it ends or is closed. */
export function readStream(response: Response): OpenStream {
  const events: Event[] = [];
  const comments: string[] = [];
  let isOver = false;
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const reading = (async () => {
    let rest = '';
    for (;;) {
      const { done, value } = (await reader?.read().catch(() => undefined)) ?? {
        done: true,
        value: undefined,
      };
      if (done) break;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const { comment, ...event } = parseBlock(block);
        if (comment !== undefined) comments.push(comment);
        else events.push(event);
      }
    }
    isOver = true;
  })();
  const messages = () =>
    events
      .filter(({ data }) => data !== undefined && data !== '')
      .map(({ data }) => JSON.parse(data ?? '') as Message);
  return {
    response,
    events,
    comments,
    messages,
    methods: () => messages().map(({ method }) => method),
    async until(count) {
      await vi.waitFor(() => expect(messages().length).toBeGreaterThanOrEqual(count), PATIENT);
      return messages();
    },
    lastId: () => events.findLast(({ id }) => id !== undefined)?.id ?? '',
    ended: () => isOver,
    async close() {
      await reader?.cancel();
      await reading;
    },
  };
}

/** GETs the stream of a legacy session; resolves when it is open in its object too. */
export async function openGet(
  portico: Portico,
  session: string,
  { token, lastEventId, path = '/mcp' }: { token: string; lastEventId?: string; path?: string },
): Promise<OpenStream> {
  const response = await portico.fetch(path, {
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      ...inSession(session),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const stream = readStream(response);
  await vi.waitFor(() => expect(stream.events.length).toBeGreaterThan(0), PATIENT);
  return stream;
}

/** Opens `subscriptions/listen`; resolves when it was acknowledged. */
export async function openListen(
  portico: Portico,
  notifications: object,
  sent: Sent = {},
  { id = 'listen-1', path = '/mcp' }: { id?: unknown; path?: string } = {},
): Promise<OpenStream> {
  const { message, headers } = modern('subscriptions/listen', { notifications }, id);
  const response = await portico.post(message, { ...sent, headers }, path);
  expect(response.status).toBe(200);
  const stream = readStream(response);
  await stream.until(1);
  return stream;
}
