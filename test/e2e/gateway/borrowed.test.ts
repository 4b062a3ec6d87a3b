/**
 * Ten thousand attempts, or a share of them, to use what belongs to another person: session ids, tasks, states, event ids, ids of requests
 * and of questions. None gives access, and the owner notices nothing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { createRandom, drawn, SEED, type Random } from '../../unit/seeded.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { hear, settleNews } from '../support/sse-reader.ts';
import { openOldStream, type OldStream } from '../support/old-stream.ts';
import { headersFor, openLegacy, post, requestBody, textOf } from '../support/raw-client.ts';
import type { Answer, RawClient, Target } from '../support/raw-client.ts';
import { send } from '../support/task-client.ts';

const OFFERS = drawn(10_000);
const AT_ONCE = 16;
const CANARY = 'canary-of-ada-5e1f';
const FORM = 'modern.test_input_required_result_elicitation';

let gateway: Gateway;
let upstreams: Upstream[];
let ada: Target;
let bob: Target;
let adas: RawClient;
let bobs: RawClient;
/** Ada's stream on the deprecated transport. */
let old: OldStream;
let task: string;
let state: string;

const plain = (token: string): Target => ({ url: `${gateway.origin}/mcp`, token });

beforeAll(async () => {
  [gateway, ...upstreams] = await Promise.all([
    startGateway(),
    startFixture('conformance-modern', { era: 'modern' }),
    startFixture('rich-legacy'),
  ]);
  await settleNews({ url: `${gateway.origin}/mcp`, token: gateway.adminToken }, [
    () => gateway.register('modern', `${upstreams[0]?.origin}/mcp`),
    () => gateway.register('legacy', `${upstreams[1]?.origin}/mcp`),
  ]);
  ada = plain((await gateway.createToken({ name: 'ada' })).token);
  bob = plain((await gateway.createToken({ name: 'bob' })).token);
  [adas, bobs] = [await openLegacy(ada), await openLegacy(bob)];
  old = await openOldStream(gateway.origin, ada.token ?? '');
  const given = { name: 'modern.slow_compute', arguments: { seconds: 0, label: CANARY } };
  task = String((await send(ada, 'tools/call', given)).message.result?.['taskId']);
  const asked = await send(ada, 'tools/call', { name: FORM, arguments: {} });
  state = String(asked.message.result?.['requestState']);
});

afterAll(async () => {
  old?.close();
  await gateway?.stop();
  await Promise.all((upstreams ?? []).map(upstream => upstream.stop()));
});

type Offer = (random: Random) => Promise<Answer>;

const sessionHeaders = (session: string | undefined) => ({
  'mcp-protocol-version': '2025-11-25',
  'mcp-session-id': session ?? '',
});
const id = (random: Random) => random.pick<number | string>([1, 2, 7, '1', 'a', 0]);

/** Sends a request with a method other than POST; does not wait for the body of a stream. */
async function other(method: 'GET' | 'DELETE', headers: Record<string, string | null>) {
  const response = await fetch(bob.url, { method, headers: headersFor(bob, headers) });
  const text = response.status === 200 ? '' : await response.text();
  await response.body?.cancel().catch(() => undefined);
  return { status: response.status, headers: response.headers, text } as Answer;
}

/** What Bob tries with Ada's ids; each attempt is refused as stated. */
const OFFERS_BY_NAME: Record<string, { offer: Offer; wanted: (answer: Answer) => boolean }> = {
  'a request in her session': {
    offer: random => {
      const method = random.pick(['ping', 'tools/list', 'resources/list', 'logging/setLevel']);
      const body = requestBody('legacy', method, '{}', id(random));
      return post(bob, body, sessionHeaders(adas.sessionId));
    },
    wanted: ({ status }) => status === 404,
  },
  'a call in her session': {
    offer: random => {
      const params = JSON.stringify({ name: 'legacy.echo', arguments: { message: 'x' } });
      const body = requestBody('legacy', 'tools/call', params, id(random));
      return post(bob, body, sessionHeaders(adas.sessionId));
    },
    wanted: ({ status }) => status === 404,
  },
  'the end of her session': {
    offer: () => other('DELETE', sessionHeaders(adas.sessionId)),
    wanted: ({ status }) => status === 404,
  },
  'the stream of her session': {
    offer: () => other('GET', { ...sessionHeaders(adas.sessionId), accept: 'text/event-stream' }),
    wanted: ({ status }) => status === 404,
  },
  'an answer in her session': {
    offer: random => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: id(random), result: { action: 'accept' } });
      return post(bob, body, sessionHeaders(adas.sessionId));
    },
    wanted: ({ status }) => status === 404,
  },
  'an answer to a question of hers': {
    offer: random => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: id(random), result: { action: 'accept' } });
      return post(bob, body, sessionHeaders(bobs.sessionId));
    },
    wanted: ({ status }) => status === 400,
  },
  'the end of a request of hers': {
    offer: random => {
      const params = { requestId: id(random) };
      const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
      return post(bob, JSON.stringify(message), sessionHeaders(bobs.sessionId));
    },
    wanted: ({ status }) => status === 202,
  },
  'her session as that of an old client': {
    offer: random => {
      const url = `${gateway.origin}/messages?sessionId=${encodeURIComponent(adas.sessionId ?? '')}`;
      return post({ ...bob, url }, requestBody('legacy', 'ping', '{}', id(random)));
    },
    wanted: ({ status }) => status === 404,
  },
  'a request on her stream of the old transport': {
    offer: random => {
      const method = random.pick(['ping', 'tools/list']);
      return post({ ...bob, url: old.url }, requestBody('legacy', method, '{}', id(random)));
    },
    wanted: ({ status }) => status === 404,
  },
  'an answer on her stream of the old transport': {
    offer: random => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: id(random), result: {} });
      return post({ ...bob, url: old.url }, body);
    },
    wanted: ({ status }) => status === 404,
  },
  'her task': {
    offer: random => {
      const method = random.pick(['tasks/get', 'tasks/cancel', 'tasks/update']);
      const more = method === 'tasks/update' ? { inputResponses: {} } : {};
      return send(bob, method, { taskId: task, ...more });
    },
    wanted: ({ message }) => message.error?.message === 'Task not found',
  },
  'her state': {
    offer: random => {
      const inputResponses = { user_name: { action: 'accept', content: { name: 'x' } } };
      const name = random.pick([FORM, 'modern.greet', 'legacy.echo']);
      return send(bob, 'tools/call', { name, arguments: {}, inputResponses, requestState: state });
    },
    wanted: ({ message }) => message.error?.code === -32602,
  },
};

describe(`${OFFERS} offers, seed ${SEED}`, { timeout: 300_000 }, () => {
  it('[MCP-10] [ACC-3] [SEC-2] of what another person owns give no access', async () => {
    expect([task.length, state.length].every(length => length > 40)).toBe(true);
    const random = createRandom(SEED);
    const streams = [await hear('legacy', ada), await hear('modern', ada)];
    // Her call runs through all of it, under an id that is tried too.
    const slow = adas.call('modern.slow_compute', { seconds: 8, label: CANARY }, 7);
    const names = Object.keys(OFFERS_BY_NAME);
    const wrong: unknown[] = [];
    const counts = new Map<string, number>();
    let left = OFFERS;
    const offer = async () => {
      while (left > 0) {
        left -= 1;
        const name = random.pick(names);
        counts.set(name, (counts.get(name) ?? 0) + 1);
        const answer = await OFFERS_BY_NAME[name]?.offer(random);
        const isRefused = answer && OFFERS_BY_NAME[name]?.wanted(answer);
        if (!isRefused || answer.text.includes(CANARY))
          wrong.push([name, answer?.status, answer?.text]);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, offer));
    expect(wrong.slice(0, 5)).toEqual([]);
    expect([...counts.keys()].toSorted()).toEqual(names.toSorted());
    expect(textOf(await slow)).toBe(`Computed ${CANARY}`);
    expect((await adas.request('ping')).status).toBe(200);
    // Her old stream received only responses to her own requests.
    expect(old.messages()).toEqual([]);
    const init = requestBody('legacy', 'ping', '{}', 'hers');
    expect((await post({ ...ada, url: old.url }, init)).status).toBe(202);
    await until('her answer comes', 60_000, async () => old.messages()[0]);
    expect(old.messages()).toEqual([{ jsonrpc: '2.0', id: 'hers', result: {} }]);
    expect((await send(ada, 'tasks/get', { taskId: task })).message.result).toBeDefined();
    for (const stream of streams) {
      expect([stream.methods(), stream.isOver()]).toEqual([[], false]);
      stream.close();
    }
  });

  it('[MCP-11] of an event id of another session start a new stream', async () => {
    const stream = await hear('legacy', ada);
    const [first = ''] = stream.ids();
    const headers = { ...sessionHeaders(bobs.sessionId), 'last-event-id': first };
    const response = await fetch(bob.url, {
      headers: headersFor(bob, { ...headers, accept: 'text/event-stream', 'content-type': null }),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const { value = '' } = (await reader?.read()) ?? {};
    await reader?.cancel();
    stream.close();
    expect(value).toMatch(/^id: [\w-]+\.0\n/u);
    expect(value).not.toContain(first.split('.')[0]);
  });
});
