/** The version of a legacy server: no header names one before the server has chosen, and older ones are offered after a refusal. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { initializeHttp, initializeSse } from '../../../src/upstream/session/handshake.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

interface Post {
  method: string;
  header: string | null;
  offered: string;
}

/** The members of a response to `initialize`. */
type Answer = (offered: string) => object;

const speaks = (protocolVersion: string) => ({
  result: { protocolVersion, capabilities: {}, serverInfo: {} },
});

/** Speaks one version and refuses the others, with or without a list of what it supports. */
const only =
  (version: string, data?: object): Answer =>
  offered =>
    offered === version
      ? speaks(version)
      : { error: { code: -32602, message: 'Unsupported protocol version', data } };

function received(init: RequestInit | undefined, posts: Post[]): { id: unknown; post: Post } {
  const { id, method, params } = JSON.parse(String(init?.body)) as {
    id: unknown;
    method: string;
    params?: { protocolVersion: string };
  };
  const header = new Headers(init?.headers).get('mcp-protocol-version');
  const post = { method, header, offered: params?.protocolVersion ?? '' };
  posts.push(post);
  return { id, post };
}

async function overHttp(answer: Answer, posts: Post[]) {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    const { id, post } = received(init, posts);
    if (post.method !== 'initialize') return new Response(null, { status: 202 });
    return Response.json({ jsonrpc: '2.0', id, ...answer(post.offered) });
  });
  const deadline = createDeadline(60_000);
  return initializeHttp(endpoint, deadline, 1e6).finally(() => deadline.release());
}

async function overSse(answer: Answer, posts: Post[]) {
  const encoder = new TextEncoder();
  let send = (_text: string): void => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = text => controller.enqueue(encoder.encode(text));
      send('event: endpoint\ndata: /messages\n\n');
    },
  });
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    const headers = { 'content-type': 'text/event-stream' };
    if (init?.method !== 'POST') return new Response(body, { headers });
    const { id, post } = received(init, posts);
    if (post.method === 'initialize') {
      send(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...answer(post.offered) })}\n\n`);
    }
    return new Response(null, { status: 202 });
  });
  const deadline = createDeadline(60_000);
  const { channel, ...found } = await initializeSse(endpoint, { maxBytes: 1e6 }, deadline).finally(
    () => deadline.release(),
  );
  channel.close();
  return found;
}

describe.each([
  ['Streamable HTTP', overHttp],
  ['HTTP+SSE', overSse],
])('a handshake over %s', (_transport, connect) => {
  it('[UP-1] names a version in a header once the server has chosen one', async () => {
    const posts: Post[] = [];
    const found = await connect(() => speaks('2025-03-26'), posts);
    expect(found).toMatchObject({ protocolVersion: '2025-03-26' });
    expect(posts).toEqual([
      { method: 'initialize', header: null, offered: '2025-11-25' },
      { method: 'notifications/initialized', header: '2025-03-26', offered: '' },
    ]);
  });

  it.each<[string, object | undefined, string[]]>([
    ['the next older one, if it names none', undefined, ['2025-06-18', '2025-03-26']],
    ['the newest that it names', { supported: ['2024-11-05', '2025-03-26'] }, ['2025-03-26']],
    ['none again, whatever it names', { supported: ['2025-11-25'] }, []],
    ['none that is unknown', { supported: ['2025-01-01', 7] }, []],
  ])('[UP-1] offers a server that refuses a version %s', async (_what, data, then) => {
    const posts: Post[] = [];
    const found = await connect(only('2025-03-26', data), posts).catch((error: unknown) => error);
    expect(found).toMatchObject(
      then.length === 0 ? { code: 'upstream_4xx' } : { protocolVersion: '2025-03-26' },
    );
    const asked = posts.filter(({ method }) => method === 'initialize');
    expect(asked.map(({ offered }) => offered)).toEqual(['2025-11-25', ...then]);
  });

  it('[UP-1] ends with the oldest version', async () => {
    const posts: Post[] = [];
    const found = connect(only('1999-01-01'), posts);
    await expect(found).rejects.toMatchObject({ code: 'upstream_4xx' });
    expect(posts).toHaveLength(4);
  });
});

it('[UP-1] ends each session that a server opened for an offer that it refused', async () => {
  const ended: (string | null)[] = [];
  const answer = only('2025-03-26');
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    if (init?.method === 'DELETE') {
      ended.push(new Headers(init.headers).get('mcp-session-id'));
      return new Response(null, { status: 204 });
    }
    const { id, post } = received(init, []);
    if (post.method !== 'initialize') return new Response(null, { status: 202 });
    const headers = { 'mcp-session-id': `of-${post.offered}` };
    return Response.json({ jsonrpc: '2.0', id, ...answer(post.offered) }, { headers });
  });
  const deadline = createDeadline(60_000);
  const { sessionId } = await initializeHttp(endpoint, deadline, 1e6);
  deadline.release();
  expect([sessionId, ended]).toEqual(['of-2025-03-26', ['of-2025-11-25', 'of-2025-06-18']]);
});
