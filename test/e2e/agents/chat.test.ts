/**
 * Chats over REST (LLM-3): a person who approves or refuses, callers who do not own the chat, how a caller's rights limit the tools, a stop
 * from elsewhere, a client that disconnects, and a gateway that is killed in the middle of a call.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import {
  addDemo,
  addServer,
  CHAT,
  OPENAI,
  openStream,
  startChats,
  type ChatGateway,
} from '../support/chat-gateway.ts';

/** Shorter than anything that would end a call by itself. */
const SOON_MS = 25_000;
const message = 'Close the ticket about the printer.';
const search = { name: 'tickets__search_tickets', arguments: { query: 'printer' } };
const close = (number: string) => ({ name: 'tickets__close_ticket', arguments: { number } });
const hang = { name: 'rich__hang', arguments: {} };

let data: string;
let chats: ChatGateway;
let upstreams: Record<string, Upstream>;
let rich: Upstream;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-chat-'));
  chats = await startChats(OPENAI, { data, env: { PORTICO_CALL_TIMEOUT_MS: '120000' } });
  upstreams = await addDemo(chats, ['tickets']);
  rich = await startFixture('rich-modern');
  await addServer(chats, 'rich', `${rich.origin}/mcp`);
});
afterAll(async () => {
  await chats?.stop();
  await rm(data, { recursive: true, force: true });
});

const closed = async () => (await upstreams['tickets']?.counters())?.['close_ticket'] ?? 0;
/** Counts how often the hanging tool was started, and how often it was cancelled. */
async function hung(): Promise<{ begun: number; cancelled: number }> {
  const count = async (of: string) => {
    const body = { name: 'rich.executions', arguments: { of } };
    const { json } = await chats.gateway.api('POST', '/api/v1/tools/call', body);
    return Number((json['content'] as { text: string }[])[0]?.text);
  };
  return { begun: await count('hang'), cancelled: await count('hang, cancelled') };
}
const get = async (id: string, token?: string) =>
  chats.gateway.api('GET', `${CHAT}/${id}`, undefined, token);
const whenStatus = (id: string, status: string) =>
  until(`the chat is ${status}`, SOON_MS, async () => {
    const { json } = await get(id);
    return json['status'] === status ? json : undefined;
  });

describe('a person', () => {
  const asks = { message, approve: 'writes' };

  it('[LLM-3] is asked before a call that may change something, and approves it', async () => {
    await chats.script({
      turns: [{ calls: [search, close('INC-1001')] }, { text: 'Closed INC-1001.' }],
    });
    const before = await closed();
    const chat = await chats.chat(asks);
    expect(chat).toMatchObject({ status: 'waiting', stop_reason: 'approval', steps: 1 });
    expect(chat.pending).toEqual([
      {
        id: 'call_2',
        name: 'tickets.close_ticket',
        arguments: { number: 'INC-1001' },
        decision: 'waiting',
        is_error: null,
      },
    ]);
    expect(chat.calls[0]).toMatchObject({ decision: 'allowed', is_error: false });
    expect((await closed()) - before).toBe(0);
    expect((await get(chat.id)).json).toMatchObject({ pending: chat.pending });
    const decisions = [{ call_id: 'call_2', approve: true }];
    const { events, chat: done } = await chats.stream({ decisions }, chat.id);
    expect(done).toMatchObject({ stop_reason: 'answered', answer: 'Closed INC-1001.', steps: 2 });
    expect(done.calls.map(({ decision }) => decision)).toEqual(['allowed', 'approved']);
    expect((await closed()) - before).toBe(1);
    expect(events.map(({ type }) => type)).toContain('result');
    // A decision is final.
    const again = await chats.gateway.api('POST', `${CHAT}/${chat.id}`, { decisions });
    expect([again.status, again.json['code']]).toEqual([422, 'validation_failed']);
    expect((await closed()) - before).toBe(1);
  });

  it('[LLM-3] refuses, or writes a message instead: nothing is called', async () => {
    const turns = [{ calls: [close('INC-1002')] }, { text: 'As you wish.' }];
    const before = await closed();
    for (const answer of [
      { decisions: [{ call_id: 'call_1', approve: false }] },
      { message: 'Better not.' },
    ]) {
      await chats.script({ turns });
      const { id } = await chats.chat(asks);
      const chat = await chats.chat(answer, id);
      expect(chat).toMatchObject({ stop_reason: 'answered', answer: 'As you wish.' });
      const told = JSON.stringify((await chats.requests())[1]);
      expect(told).toContain('This call was not made');
    }
    expect((await closed()) - before).toBe(0);
    expect(await chats.problems()).toEqual([]);
  });

  it('[LLM-3] is asked about every call if the chat requires it, and never less often than the deployment requires', async () => {
    await chats.script({ turns: [{ calls: [search] }] });
    const chat = await chats.chat({ message, approve: 'always' });
    expect(chat.pending).toHaveLength(1);
    const { events } = await chats
      .stream({ decisions: [{ call_id: 'call_1', approve: false }] }, chat.id)
      .catch(() => ({ events: [] }));
    expect(events.filter(({ type }) => type === 'call')).toEqual([]);
  });
});

describe('access to a chat', () => {
  it('[LLM-3] [ACC-2] only the owner of a chat sees, continues, stops and deletes it', async () => {
    await chats.script({ turns: [{ text: 'Hello.' }], repeat: 'last' });
    const { id } = await chats.chat({ message: 'Hi' });
    const { token } = await chats.gateway.createToken({
      name: 'stranger',
      scopes: ['tools:read', 'tools:call'],
    });
    const nobody = crypto.randomUUID();
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', { message: 'And me?' }],
      ['POST', '/stop', undefined],
      ['DELETE', '', undefined],
    ] as const) {
      const theirs = await chats.gateway.api(method, `${CHAT}/${id}${path}`, body, token);
      const none = await chats.gateway.api(method, `${CHAT}/${nobody}${path}`, body, token);
      expect([method, theirs.status, theirs.text]).toEqual([method, 404, none.text]);
    }
    expect(await chats.requests()).toHaveLength(1);
    expect((await chats.gateway.api('DELETE', `${CHAT}/${id}`)).status).toBe(204);
    expect((await get(id)).status).toBe(404);
  });

  it('[LLM-3] [ACC-3] a model is shown only what its caller may use, and nothing else is sent out', async () => {
    const { token } = await chats.gateway.createToken({
      name: 'tickets only',
      servers: ['tickets'],
      scopes: ['tools:read', 'tools:call'],
    });
    const hidden = { name: 'rich__echo', arguments: { message: 'x' } };
    const unknown = { name: 'rich__nothing', arguments: {} };
    await chats.script({ turns: [{ calls: [hidden, unknown, search] }, { text: 'So.' }] });
    const chat = await chats.chat({ message }, undefined, token);
    expect(chat.calls.map(({ decision }) => decision)).toEqual(['unusable', 'unusable', 'allowed']);
    const [first, second] = (await chats.requests()).map(request => JSON.stringify(request));
    expect(first).toContain('tickets__close_ticket');
    expect(first).not.toContain('rich');
    const told = (name: string) => second?.includes(`There is no tool ${name}`);
    expect([told('rich__echo'), told('rich__nothing')]).toEqual([true, true]);
    await chats.script({ turns: [{ text: 'So.' }] });
    await chats.chat({ message, tools: { servers: ['rich'] } });
    expect(JSON.stringify(await chats.requests())).not.toContain('tickets__');
  });

  it('[LLM-3] a token that is revoked during a run makes no further call', async () => {
    const { id, token } = await chats.gateway.createToken({
      name: 'short',
      scopes: ['tools:read', 'tools:call'],
    });
    // Longer than a revocation takes, on any machine.
    const calls = [{ name: 'rich__slow', arguments: { ms: 12_000 } }];
    await chats.script({ turns: [{ calls }], repeat: 'last' });
    const running = chats.chat({ message }, undefined, token);
    await until('the model was asked', SOON_MS, async () =>
      (await chats.requests()).length > 0 ? true : undefined,
    );
    expect((await chats.gateway.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
    expect(await running).toMatchObject({ stop_reason: 'revoked', steps: 1 });
    expect(await chats.requests()).toHaveLength(1);
  });

  it('[LLM-3] limits may be lowered, not raised; a cost limit needs prices', async () => {
    for (const [limits, field] of [
      [{ steps: 17 }, 'limits.steps'],
      [{ seconds: 301 }, 'limits.seconds'],
      [{ cost_usd: 1 }, 'limits.cost_usd'],
    ] as const) {
      const { status, json } = await chats.gateway.api('POST', CHAT, { message, limits });
      expect([status, (json['errors'] as { field: string }[])[0]?.field]).toEqual([422, field]);
    }
  });
});

describe('a stop', () => {
  const begins = async (turns: object[] = [{ calls: [hang] }, { text: 'It was cut off.' }]) => {
    await chats.script({ turns } as never);
    const before = await hung();
    const response = await openStream(chats.gateway, { message, stream: true });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (word: string) => {
      while (!text.includes(word)) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`ended before ${word}: ${text}`);
        text += value;
      }
      return text;
    };
    await readUntil('event: call');
    const id = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1] ?? '';
    await until('the call runs', SOON_MS, async () =>
      (await hung()).begun > before.begun ? true : undefined,
    );
    return { id, before, readUntil, leave: () => reader?.cancel() };
  };
  const isOff = (before: { cancelled: number }) =>
    until('the call is cancelled', SOON_MS, async () =>
      (await hung()).cancelled > before.cancelled ? true : undefined,
    );

  it('[LLM-3] from elsewhere ends the run and its call at the server; the chat can be continued', async () => {
    const { id, before, readUntil } = await begins();
    const second = await chats.gateway.api('POST', `${CHAT}/${id}`, { message: 'Me too.' });
    expect([second.status, second.json['code']]).toEqual([409, 'conflict']);
    const { status } = await chats.gateway.api('POST', `${CHAT}/${id}/stop`);
    expect(status).toBe(200);
    expect(await readUntil('event: done')).toContain('"stop_reason":"stopped"');
    await isOff(before);
    expect((await get(id)).json).toMatchObject({ status: 'idle', calls: [{ is_unknown: true }] });
    const chat = await chats.chat({}, id);
    expect(chat).toMatchObject({ stop_reason: 'answered', answer: 'It was cut off.' });
    expect((await hung()).begun - before.begun).toBe(1);
    expect(JSON.stringify((await chats.requests())[1])).toContain('not known what became of');
  });

  it('[LLM-3] by a client that disconnects has the same effect', async () => {
    const { id, before, leave } = await begins();
    await leave();
    await isOff(before);
    const json = await whenStatus(id, 'idle');
    expect(json).toMatchObject({ stop_reason: 'stopped', calls: [{ is_unknown: true }] });
    expect((await hung()).begun - before.begun).toBe(1);
  });

  it('[LLM-3] by deleting the chat is final', async () => {
    const { id, before, readUntil } = await begins();
    expect((await chats.gateway.api('DELETE', `${CHAT}/${id}`)).status).toBe(204);
    expect(await readUntil('event: done')).toContain('"stop_reason":"stopped"');
    await isOff(before);
    expect((await get(id)).status).toBe(404);
  });

  it('[LLM-3] by killing the gateway: nothing is sent again, and the chat continues', async () => {
    const waiting = await (async () => {
      await chats.script({ turns: [{ calls: [close('INC-1002')] }] });
      return chats.chat({ message, approve: 'writes' });
    })();
    const { id, before, leave } = await begins();
    await chats.gateway.kill();
    await leave()?.catch(() => {});
    const { model } = chats;
    const { adminToken } = chats.gateway;
    chats = await startChats(OPENAI, { data, model, adminToken });
    const { json } = await get(id);
    expect(json).toMatchObject({ calls: [{ name: 'rich.hang' }] });
    const chat = await until('the chat may be gone on with', SOON_MS, async () =>
      chats.chat({}, id),
    );
    expect(chat).toMatchObject({ stop_reason: 'answered', answer: 'It was cut off.', steps: 2 });
    expect(chat.calls).toMatchObject([{ is_unknown: true, is_error: true }]);
    expect((await hung()).begun - before.begun).toBe(1);
    // Calls that wait for a person still wait.
    expect((await get(waiting.id)).json).toMatchObject({
      status: 'waiting',
      pending: waiting.pending,
    });
    const count = await closed();
    await chats.script({ turns: [{ text: 'Now it is closed.' }] });
    const decisions = [{ call_id: 'call_1', approve: true }];
    expect((await chats.chat({ decisions }, waiting.id)).answer).toBe('Now it is closed.');
    expect((await closed()) - count).toBe(1);
  });
});
