/** Server requests of one call without end: those that wait are bounded, and so are the answers on their way. */
import { expect, it } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import type { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import type { CallMessage } from '../../../src/upstream/protocol/call.ts';
import type { UpstreamMessage } from '../../../src/upstream/protocol/message.ts';
import type { Question } from '../../../src/upstream/protocol/server-request.ts';
import { toCallMessages } from '../../../src/upstream/server-messages.ts';
import { endpoint as destination } from './a-destination.ts';

const MIB = 1_048_576;
const MOST = 200;

const asking = (id: number, chars = 2, method = 'elicitation/create'): UpstreamMessage => ({
  kind: 'request',
  method,
  id,
  params: `"${'x'.repeat(chars)}"`,
});

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** What a call needs to read messages. @param fetch takes the answers */
function createTalk(fetch: () => Promise<Response>) {
  const context = {
    signal: new AbortController().signal,
    owner: () => '',
    waitUntil: () => {},
    capabilities: { elicitation: {} },
    questions: 'ask' as const,
  };
  return {
    endpoint: { ...destination, fetch },
    protocol: { era: 'legacy' as const, protocolVersion: '2025-11-25' },
    deadline: createDeadline(10_000),
    context,
    questionTimeoutMs: 10_000,
    wantsProgress: false,
    knowsTasks: false,
  };
}

/** The same request on a stream that calls share. @param reply the way back to the server */
const shared = (request: UpstreamMessage, reply = async () => {}): UpstreamMessage =>
  request.kind === 'request' ? { ...request, reply } : request;

/** Reads a call whose server sends these messages. @param answers whether each server request is answered at once */
async function read(messages: readonly UpstreamMessage[], answers = false) {
  let posts = 0;
  const seen: CallMessage[] = [];
  const talk = createTalk(() => {
    posts += 1;
    return answers ? Promise.resolve(new Response()) : new Promise<Response>(() => {});
  });
  let code: string | undefined;
  let postsBefore = 0;
  try {
    for await (const message of toCallMessages(messages, talk, async () => {})) {
      seen.push(message);
      postsBefore = posts;
      if (answers) await (message as Question).answer({ result: '{}' });
    }
  } catch (thrown) {
    code = (thrown as PorticoError).code;
  }
  return { asked: seen.length, code, posts, postsBefore };
}

it('[SEC-4] [MCP-5] a call ends if too many of its server requests wait', async () => {
  const flood = numbers(1_000).map(id => asking(id));
  expect(await read(flood)).toMatchObject({ asked: MOST, code: 'upstream_too_large' });
});

it('[SEC-4] [MCP-5] a call ends if its server requests are too large together', async () => {
  const large = numbers(20).map(id => asking(id, 3 * MIB));
  expect(await read(large)).toMatchObject({ asked: 2, code: 'upstream_too_large' });
  expect(await read([asking(1, 12 * MIB)])).toMatchObject({ asked: 1, code: undefined });
});

it('[SEC-4] [MCP-5] a server request that is repeated while it waits is asked once', async () => {
  const same = numbers(1_000).map(() => asking(7));
  expect(await read(same)).toMatchObject({ asked: 1, code: undefined });
});

it('[MCP-5] a call may have any number of server requests one after the other', async () => {
  const many = numbers(1_000).map(id => asking(id));
  expect(await read(many, true)).toMatchObject({ asked: 1_000, code: undefined, posts: 1_000 });
});

it.each(['ping', 'roots/list', 'unknown/method'])(
  '[SEC-4] [MCP-5] a server that takes no answers gets few to a flood of %s',
  async method => {
    const flood = numbers(1_000).map(id => asking(id, 2, method));
    expect(await read(flood)).toMatchObject({ posts: MOST, code: 'upstream_too_large' });
  },
);

it('[MCP-5] [UP-5] the answer to a repeated server request takes the way that came with the repetition', async () => {
  const ways: string[] = [];
  const by = (way: string): UpstreamMessage => ({
    kind: 'request',
    method: 'elicitation/create',
    id: 7,
    params: '{}',
    reply: async () => void ways.push(way),
  });
  const talk = createTalk(() => Promise.resolve(new Response()));
  let question: Question | undefined;
  async function* answered() {
    yield by('lost');
    yield by('new');
    await question?.answer({ result: '{}' });
  }
  for await (const message of toCallMessages(answered(), talk, async () => {})) {
    question = message as Question;
  }
  expect(ways).toEqual(['new']);
});

it('[MCP-5] [UP-5] the requests of a call and those of a shared stream are bounded apart', async () => {
  const others = numbers(MOST).map(id => shared(asking(1_000 + id)));
  expect(await read([...others, asking(1)])).toMatchObject({ asked: MOST + 1, code: undefined });
  const hanging = async () => new Promise<never>(() => {});
  const refused = numbers(MOST).map(id => shared(asking(1_000 + id, 2, 'roots/list'), hanging));
  expect(await read([...refused, asking(1)])).toMatchObject({ asked: 1, code: undefined });
});

it('[SEC-4] [MCP-5] too many requests of shared streams are refused, and end no call', async () => {
  let refusals = 0;
  const flood = numbers(1_000).map(id => shared(asking(id), async () => void (refusals += 1)));
  expect(await read(flood)).toMatchObject({ asked: MOST, code: undefined });
  expect(refusals).toBe(1_000 - MOST);
});

it('[MCP-5] [UP-5] a request that is no repetition leaves the way back of another with its id', async () => {
  const ways: string[] = [];
  const by = (way: string) => async () => void ways.push(way);
  const talk = createTalk(async () => {
    ways.push('its own');
    return new Response();
  });
  let question: Question | undefined;
  async function* answered() {
    yield shared(asking(7), by('shared'));
    yield shared(asking(7, 2, 'sampling/createMessage'), by('another'));
    yield asking(7);
    await question?.answer({ result: '{}' });
  }
  for await (const message of toCallMessages(answered(), talk, async () => {})) {
    question = message as Question;
  }
  expect(ways).toEqual(['shared']);
});
