/** Request states of servers on their way through clients: sealed for one principal, one request, one server and a limited time. */
import type { VisibleServers } from '../../../src/gateway/viewer.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RelayedRequest } from '../../../src/gateway/gateway.ts';
import { createRequestStates } from '../../../src/gateway/steps/request-state.ts';
import { DOT_NAMING } from '../../../src/gateway/viewer.ts';
import { rawMembers } from '../../../src/shared/json/json-spans.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import type { CallContext, CallMessage, CallReply } from '../../../src/upstream/protocol/call.ts';
import { createCaller } from '../access/callers.ts';
import { createRecord } from './fakes.ts';

const LIFETIME_MS = 60_000;
const keys = createKeyRing(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
);
const ada = createCaller({ principalId: 'ada' });
const alpha = createRecord('alpha');
const visible: VisibleServers = { servers: [alpha, createRecord('beta')] };
const FORM = { elicitation: { form: {} } };
const ASKING = {
  resultType: 'input_required',
  inputRequests: { name: { method: 'elicitation/create', params: { mode: 'form' } } },
};
const asking = (state?: unknown): JsonObject =>
  state === undefined ? ASKING : { ...ASKING, requestState: state };
const DONE = { resultType: 'complete', content: [] };

const toResponse = (result: JsonObject) =>
  ({ kind: 'response', result: JSON.stringify(result), parsed: result }) as const;

/** A gateway over a server with scripted results; notes the states that the server gets. */
function createGateway(...results: (JsonObject | CallReply)[]) {
  const got: (string | undefined)[] = [];
  const states = createRequestStates({ keys, lifetimeMs: LIFETIME_MS });
  const answer = ({ params }: RelayedRequest): CallReply => {
    got.push(params.has('requestState') ? String(params.get('requestState')) : undefined);
    const next = results.shift() ?? DONE;
    return 'response' in next || 'messages' in next
      ? (next as CallReply)
      : { response: toResponse(next) };
  };
  async function ask(
    params: Record<string, unknown> = {},
    {
      caller = ada,
      within = visible,
      server = alpha,
      more = {},
      context = {},
    }: {
      caller?: typeof ada;
      within?: VisibleServers;
      server?: typeof alpha;
      more?: Partial<RelayedRequest>;
      context?: Partial<CallContext>;
    } = {},
  ) {
    const raw = Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)] as const);
    const state = await states.open(
      { caller, visible: within, naming: DOT_NAMING },
      {
        method: 'tools/call',
        reference: { kind: 'tool', name: 'alpha.echo' },
        params: new Map(raw),
        ...more,
      },
      {
        signal: new AbortController().signal,
        owner: () => 'o',
        waitUntil: () => {},
        capabilities: FORM,
        questions: 'suspend',
        ...context,
      },
    );
    state.requireFrom(server);
    return state.close(server, answer(state.request));
  }
  return { ask, got };
}

function resultOf(reply: CallReply): JsonObject {
  if (!('response' in reply) || !('result' in reply.response)) throw new Error('no result');
  return JSON.parse(reply.response.result) as JsonObject;
}
const CALL = { name: 'alpha.echo', arguments: { n: 1 } };
/** The sealed state that a client gets with a server request. */
async function sealedBy(world: ReturnType<typeof createGateway>, call: object = CALL) {
  const state = resultOf(await world.ask({ ...call }))['requestState'];
  if (typeof state !== 'string') throw new Error('there is no state');
  return state;
}
const refusal = {
  code: 'invalid_params',
  message: 'params.requestState is not valid for this request',
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('a request state', () => {
  it('[MCP-4] [SEC-8] goes to the client sealed, and returns to the server unchanged', async () => {
    const world = createGateway(asking('of the server'), DONE);
    const state = await sealedBy(world);
    expect(state).not.toContain('of the server');
    const answers = { name: { action: 'accept' } };
    const done = await world.ask({ ...CALL, requestState: state, inputResponses: answers });
    expect(resultOf(done)).toEqual(DONE);
    expect(world.got).toEqual([undefined, '"of the server"']);
  });

  it('[MCP-4] is added if the server gave none, and the server then gets none', async () => {
    const world = createGateway(asking());
    const state = await sealedBy(world);
    await world.ask({ ...CALL, requestState: state });
    expect(world.got).toEqual([undefined, undefined]);
  });

  it('[MCP-4] is sealed again for each retry', async () => {
    const world = createGateway(asking('one'), asking('two'));
    const first = await sealedBy(world);
    const second = await sealedBy(world, { ...CALL, requestState: first });
    await world.ask({ ...CALL, requestState: second });
    expect(world.got).toEqual([undefined, '"one"', '"two"']);
  });

  it('[SEC-8] is refused for another principal, another request or another server', async () => {
    const world = createGateway(asking('one'));
    const requestState = await sealedBy(world);
    const call = { ...CALL, requestState };
    const others = [
      () => world.ask(call, { caller: createCaller({ principalId: 'bob' }) }),
      () => world.ask({ ...call, arguments: { n: 2 } }),
      () => world.ask({ ...call, more: true }),
      () => world.ask({ requestState }),
      () => world.ask(call, { more: { method: 'prompts/get' } }),
      () => world.ask(call, { within: { servers: [createRecord('beta')] } }),
      () => world.ask(call, { within: { servers: [] } }),
      // The caller sees both servers, but by now the name is that of another one.
      () => world.ask(call, { server: createRecord('beta') }),
    ];
    for (const other of others) await expect(other()).rejects.toMatchObject(refusal);
    expect(world.got).toHaveLength(1);
    // Params that belong to one retry only are not bound.
    await world.ask({ ...call, _meta: { progressToken: 1 }, inputResponses: {} });
    expect(world.got).toEqual([undefined, '"one"']);
  });

  it('[SEC-8] is refused if it is forged', async () => {
    const { ask, got } = createGateway();
    const odd = ['of the server', '', 7, null, {}, [], 'k1.AAAA', 'k2.AAAA'];
    for (const requestState of odd) {
      await expect(ask({ ...CALL, requestState })).rejects.toMatchObject(refusal);
    }
    expect(got).toEqual([]);
  });

  it('[SEC-9] is valid for its TTL, to the millisecond', async () => {
    vi.setSystemTime(1_000_000);
    const world = createGateway(asking('one'));
    const requestState = await sealedBy(world);
    vi.setSystemTime(1_000_000 + LIFETIME_MS);
    await world.ask({ ...CALL, requestState });
    vi.setSystemTime(1_000_001 + LIFETIME_MS);
    await expect(world.ask({ ...CALL, requestState })).rejects.toMatchObject(refusal);
    expect(world.got).toEqual([undefined, '"one"']);
  });
});

describe('a result without a server request', () => {
  it('[MCP-7] passes unchanged', async () => {
    for (const response of [
      toResponse(DONE),
      toResponse({ content: [], requestState: 'mine' }),
      { kind: 'response', error: '{"code":1}', parsed: { code: 1, resultType: 'input_required' } },
    ] as const) {
      const { ask } = createGateway({ response });
      const reply = await ask(CALL);
      expect('response' in reply && reply.response).toBe(response);
    }
  });

  it('[MCP-4] is sent as a message to a client that is asked while its call continues', async () => {
    const { ask, got } = createGateway(asking('one'));
    const reply = await ask({ ...CALL, requestState: 'own' }, { context: { questions: 'ask' } });
    expect(resultOf(reply)).toEqual(asking('one'));
    expect(got).toEqual(['"own"']);
  });
});

describe('a server request', () => {
  it("[MCP-4] beyond the client's capabilities is refused, and has no state", async () => {
    const { ask } = createGateway(asking('one'));
    const reply = await ask(CALL, { context: { capabilities: {} } });
    expect(reply).toMatchObject({
      response: { parsed: { data: { requiredCapabilities: { elicitation: { form: {} } } } } },
    });
    expect(JSON.stringify(reply)).not.toContain('requestState');
  });

  it('[MCP-4] [MCP-7] after messages is sealed too, and the messages pass', async () => {
    const note: CallMessage = {
      kind: 'notification',
      method: 'notifications/progress',
      text: '{}',
    };
    async function* messages() {
      yield note;
      yield toResponse(asking('one'));
    }
    const world = createGateway({ messages: messages() });
    const reply = await world.ask(CALL);
    const passed: CallMessage[] = [];
    if ('messages' in reply) for await (const each of reply.messages) passed.push(each);
    const [first, last] = passed;
    expect(first).toBe(note);
    const result = last && 'result' in last ? last.result : '';
    const requestState = JSON.parse(rawMembers(result).get('requestState') ?? '""') as string;
    expect(requestState).not.toBe('one');
    await world.ask({ ...CALL, requestState });
    expect(world.got).toEqual([undefined, '"one"']);
  });
});

describe('a refusal that sends people to links, as of 2025-11-25', () => {
  const URLS = { elicitation: { url: {} } };
  const link = { mode: 'url', elicitationId: 'e', url: 'https://a.example.com/', message: 'Go' };
  const refusing = (elicitations: unknown): CallReply => {
    const error = { code: -32042, message: 'no', data: { elicitations } };
    return { response: { kind: 'response', error: JSON.stringify(error), parsed: error } };
  };
  const asked = { mode: 'url', url: link.url, message: 'Go' };
  const opening = { method: 'elicitation/create', params: asked };
  const more = { context: { capabilities: URLS } };

  it('[MCP-4] [MCP-5] becomes a request to open them, after which the call is made again', async () => {
    const { ask, got } = createGateway(refusing([link, link]), DONE);
    const result = resultOf(await ask(CALL, more));
    expect(result).toEqual({
      resultType: 'input_required',
      inputRequests: { open_link_1: opening, open_link_2: opening },
      requestState: expect.any(String),
    });
    const { requestState } = result;
    const inputResponses = { open_link_1: { action: 'accept' } };
    expect(resultOf(await ask({ ...CALL, requestState, inputResponses }, more))).toEqual(DONE);
    expect(got).toEqual([undefined, undefined]);
  });

  it.each(['decline', 'cancel'])('[MCP-5] ends the call if a person answers %s', async action => {
    const { ask, got } = createGateway(refusing([link]));
    const { requestState } = resultOf(await ask(CALL, more));
    const retry = { ...CALL, requestState, inputResponses: { open_link_1: { action } } };
    await expect(ask(retry, more)).rejects.toMatchObject({
      reason: { code: 'upstream_needs_input' },
      server: alpha,
    });
    expect(got).toHaveLength(1);
  });

  it('[MCP-4] is refused for a client that opens no links', async () => {
    const { ask } = createGateway(refusing([link]));
    expect(await ask(CALL)).toMatchObject({
      response: { parsed: { code: -32021, data: { requiredCapabilities: URLS } } },
    });
  });

  it.each([undefined, [], 'x', [link, { ...link, url: 7 }], [{ url: 'x' }]])(
    '[MCP-7] passes unchanged if it has no proper links: %j',
    async elicitations => {
      const reply = refusing(elicitations);
      const { ask } = createGateway(reply);
      expect(await ask(CALL, more)).toBe(reply);
    },
  );
});
