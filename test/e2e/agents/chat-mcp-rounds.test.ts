/**
 * Rounds of the tool `chat`, sent by hand (LLM-3): a round belongs to the caller who was asked and counts once, a chat reaches only tools
 * of its endpoint, and a client that disconnects stops the run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import {
  addDemo,
  addServer,
  CHAT,
  OPENAI,
  startChats,
  type ChatGateway,
} from '../support/chat-gateway.ts';
import { callModern, chatUrl, modernBody, viewOf } from '../support/chat-people.ts';
import {
  headersFor,
  modernHeaders,
  openModern,
  resultOf,
  textOf,
  type Target,
} from '../support/raw-client.ts';

const SOON_MS = 25_000;
const message = 'Close the ticket about the printer.';
const close = (number: string) => ({ name: 'tickets__close_ticket', arguments: { number } });

let chats: ChatGateway;
let upstreams: Record<string, Upstream>;
let rich: Upstream;
let target: Target;

beforeAll(async () => {
  chats = await startChats(OPENAI, {
    env: { PORTICO_CHAT_APPROVAL: 'writes', PORTICO_CALL_TIMEOUT_MS: '120000' },
  });
  upstreams = await addDemo(chats, ['tickets']);
  rich = await startFixture('rich-modern');
  await addServer(chats, 'rich', `${rich.origin}/mcp`);
  target = { url: String(chatUrl(chats.gateway)), token: chats.gateway.adminToken };
});
afterAll(() => chats?.stop());

const closed = async () => (await upstreams['tickets']?.counters())?.['close_ticket'] ?? 0;
const endpoint = (path: string) => ({ ...target, url: String(chatUrl(chats.gateway, path)) });
const accepted = { approval: { action: 'accept', content: { call_1: true } } };

describe('a round', () => {
  const elicitation = { elicitation: {} };

  it('[LLM-3] [ACC-2] belongs to the caller who was asked, and counts once', async () => {
    await chats.script({
      turns: [{ calls: [close('INC-1001')] }, { text: 'Closed.' }],
      repeat: 'last',
    });
    const before = await closed();
    const asked = resultOf(await callModern(target, { message }, elicitation));
    expect(asked).toMatchObject({ resultType: 'input_required' });
    const { requestState } = asked as unknown as { requestState: string };
    const round = { requestState, inputResponses: accepted };
    const { token: theirs } = await chats.gateway.createToken({
      name: 'a stranger',
      scopes: ['tools:read', 'tools:call'],
    });
    const stranger = { ...target, token: theirs };
    const refused = await callModern(stranger, { message }, elicitation, round);
    const nothing = { ...round, requestState: crypto.randomUUID() };
    const unknown = await callModern(stranger, { message }, elicitation, nothing);
    expect(resultOf(refused).isError).toBe(true);
    expect(refused.resultText).toBe(unknown.resultText);
    expect((await closed()) - before).toBe(0);
    const both = await Promise.all(
      [1, 2].map(() => callModern(target, { message }, elicitation, round)),
    );
    expect((await closed()) - before).toBe(1);
    const done = both.filter(answer => resultOf(answer).isError === false);
    expect(done.map(answer => viewOf(resultOf(answer)).answer)).toContain('Closed.');
    const again = await callModern(target, { message }, elicitation, round);
    expect(JSON.stringify(resultOf(again))).not.toContain('input_required');
    expect((await closed()) - before).toBe(1);
  });

  it.each([accepted, { approval: { action: 'decline' } }])(
    '[LLM-3] that is sent again decides nothing about a later call: %j',
    async inputResponses => {
      await chats.script({
        turns: [{ calls: [close('INC-1001')] }, { calls: [close('INC-1002')] }, { text: 'So.' }],
      });
      const asked = resultOf(await callModern(target, { message }, elicitation));
      const { requestState } = asked as unknown as { requestState: string };
      const round = { requestState, inputResponses };
      const next = resultOf(await callModern(target, { message }, elicitation, round));
      expect(next).toMatchObject({ resultType: 'input_required' });
      const again = resultOf(await callModern(target, { message }, elicitation, round));
      expect(viewOf(again)).toMatchObject({
        status: 'waiting',
        pending: [{ id: 'call_2', decision: 'waiting' }],
      });
    },
  );
});

describe('an endpoint', () => {
  const shown = async () => JSON.stringify(await chats.requests());
  const at = async (path: string) => {
    const client = openModern(endpoint(path));
    return viewOf(resultOf(await client.call('chat', { message })));
  };

  it('[LLM-3] [ACC-6] of one server or a toolset limits what its chats can ever reach', async () => {
    const toolset = { name: 'reading', include: ['tickets.search_*', 'rich.echo'] };
    expect((await chats.gateway.api('POST', '/api/v1/toolsets', toolset)).status).toBe(201);
    await chats.script({ turns: [{ text: 'So.' }], repeat: 'last' });
    const { id } = await at('/mcp/toolsets/reading');
    expect(await shown()).toContain('tickets__search_tickets');
    expect(await shown()).not.toContain('close_ticket');
    // Also when the chat continues at another endpoint.
    await chats.chat({ message: 'And?' }, id);
    expect(await shown()).not.toContain('close_ticket');
    await chats.script({ turns: [{ text: 'So.' }], repeat: 'last' });
    const one = await at('/mcp/servers/rich');
    await chats.chat({ message: 'And?' }, one.id);
    expect(await shown()).toContain('rich__echo');
    expect(await shown()).not.toContain('tickets__');
    // A chat of all tools is restricted by the endpoint at which it continues.
    await chats.script({ turns: [{ text: 'So.' }], repeat: 'last' });
    const wide = await chats.chat({ message });
    await chats.script({ turns: [{ text: 'So.' }], repeat: 'last' });
    const narrow = openModern(endpoint('/mcp/servers/rich'));
    resultOf(await narrow.call('chat', { message: 'And?', chat_id: wide.id }));
    expect(await shown()).not.toContain('tickets__');
  });

  it('[LLM-3] stops the run when the client disconnects', async () => {
    await chats.script({
      turns: [{ calls: [{ name: 'rich__hang', arguments: {} }] }],
      repeat: 'last',
    });
    const { id } = await chats.chat({ message, approve: 'writes' });
    const server = openModern({ ...target, url: `${chats.gateway.origin}/mcp/servers/rich` });
    const count = async (of: string) => Number(textOf(await server.call('executions', { of })));
    const before = [await count('hang'), await count('hang, cancelled')] as const;
    const leaving = new AbortController();
    const decided = fetch(target.url, {
      method: 'POST',
      signal: leaving.signal,
      headers: headersFor(target, modernHeaders('tools/call', 'chat')),
      body: modernBody({ message }, {}, { requestState: `${id} call_1`, inputResponses: accepted }),
    }).then(response => response.text());
    decided.catch(() => {});
    await until('the call runs', SOON_MS, async () =>
      (await count('hang')) > before[0] ? true : undefined,
    );
    leaving.abort();
    await expect(decided).rejects.toThrow('abort');
    await until('the call is cancelled', SOON_MS, async () =>
      (await count('hang, cancelled')) > before[1] ? true : undefined,
    );
    const json = await until('the chat is stopped', SOON_MS, async () => {
      const { json: view } = await chats.gateway.api('GET', `${CHAT}/${id}`);
      return view['status'] === 'running' ? undefined : view;
    });
    expect(json).toMatchObject({ stop_reason: 'stopped', calls: [{ is_unknown: true }] });
    expect((await count('hang')) - before[0]).toBe(1);
  });
});
