/** Shared set-up of the chat tests: a gateway with a fake model that speaks a provider's wire format, and upstreams with tools for it. */
import { SseParser } from '../../../src/http/sse-events.ts';
import type { ChatEvent, ChatView } from '../../../src/agents/chat/chat-events.ts';
import {
  startFixture,
  until,
  type FixtureName,
  type Upstream,
} from '../../fixtures/start-fixture.ts';
import type { Script } from '../../fixtures/model-script.ts';
import { QUIET, startGateway, type Gateway, type GatewayOptions } from './gateway.ts';

/** A provider's wire format: the gateway's settings, and the fixture that speaks it. */
export interface Provider {
  api: string;
  fixture: FixtureName;
  path: string;
}

export const PROVIDERS: readonly Provider[] = [
  { api: 'openai', fixture: 'model-openai', path: '/v1' },
  { api: 'openai-responses', fixture: 'model-openai', path: '/v1' },
  { api: 'anthropic', fixture: 'model-anthropic', path: '/v1' },
  { api: 'gemini', fixture: 'model-gemini', path: '/v1beta' },
];
export const OPENAI: Provider = { api: 'openai', fixture: 'model-openai', path: '/v1' };

/** More tools than any of these servers has. */
const MOST_TOOLS = 40;
const SOON_MS = 60_000;
/** The reason shown for a tool for which the model named no skill. */
const NO_SKILL = 'The model named no existing skill';
const KEY = 'model-key-of-a-test';
export const CHAT = '/api/v1/chat';

export interface Told {
  status: number;
  events: ChatEvent[];
  /** The last event. */
  chat: ChatView;
}

export interface ChatGateway {
  gateway: Gateway;
  model: Upstream;
  script(script: Script): Promise<void>;
  /** Returns the bodies that the model received since its script was given. */
  requests(): Promise<Record<string, unknown>[]>;
  /** Returns requests that the real API would have refused. */
  problems(): Promise<string[]>;
  /** Runs a chat. @returns its response as JSON */
  chat(body: object, id?: string, token?: string): Promise<ChatView>;
  /** Runs a chat. @returns its response as events */
  stream(body: object, id?: string): Promise<Told>;
  stop(): Promise<void>;
}

export async function startChats(
  provider: Provider,
  options: GatewayOptions & { model?: Upstream } = {},
): Promise<ChatGateway> {
  const { model = await startFixture(provider.fixture, { key: KEY }), ...rest } = options;
  const gateway = await startGateway({
    ...rest,
    env: {
      ...QUIET,
      PORTICO_MODEL_API: provider.api,
      PORTICO_MODEL_URL: `${model.origin}${provider.path}`,
      PORTICO_MODEL: 'm-1',
      PORTICO_MODEL_KEY: KEY,
      PORTICO_CHAT_APPROVAL: 'never',
      ...rest.env,
    },
  });
  const control = async (path: string, body?: object): Promise<unknown> => {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    const response = await fetch(`${model.origin}/control${path}`, init);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.json();
  };
  const pathOf = (id?: string) => (id === undefined ? CHAT : `${CHAT}/${id}`);
  return {
    gateway,
    model,
    script: async script => void (await control('/script', script)),
    requests: async () => (await control('/requests')) as Record<string, unknown>[],
    problems: async () => (await control('/problems')) as string[],
    async chat(body, id, token) {
      const { status, json, text } = await gateway.api('POST', pathOf(id), body, token);
      if (status !== 200) throw new Error(`${status} ${text}`);
      return json as unknown as ChatView;
    },
    async stream(body, id) {
      const response = await openStream(gateway, { ...body, stream: true }, id);
      const parser = new SseParser(2 ** 22);
      const events = parser
        .push(await response.text())
        .map(({ data }) => JSON.parse(data) as ChatEvent);
      const last = events.at(-1);
      if (last?.type !== 'done') throw new Error(`no end: ${JSON.stringify(last)}`);
      return { status: response.status, events, chat: last.chat };
    },
    async stop() {
      await gateway.stop();
      await model.stop();
    },
  };
}

/** Opens the stream of a chat; the caller reads or closes it. */
export function openStream(
  gateway: Gateway,
  body: object,
  id?: string,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${gateway.origin}${id === undefined ? CHAT : `${CHAT}/${id}`}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminToken}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

/** Adds a server with tools and waits for their skills: the same model is asked about them, and must not be asked while a test counts. */
export async function addServer(
  { gateway, script }: ChatGateway,
  name: string,
  url: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  const none = Array.from({ length: MOST_TOOLS }, (_, index) => ({
    index,
    skills: [],
    suggestion: null,
  }));
  await script({ turns: [{ text: JSON.stringify({ tools: none }) }], repeat: 'last' });
  const { id } = await gateway.register(name, url, more);
  await until(`the skills of ${name} are known`, SOON_MS, async () => {
    const { json } = await gateway.api('GET', `/api/v1/aggregator/servers/${id}/skills`);
    const tools = json['tools'] as { reason: string | null }[];
    const isKnown = tools.length > 0 && tools.every(({ reason }) => reason === NO_SKILL);
    return isKnown ? true : undefined;
  });
}

/** Registers demo servers by name. */
export async function addDemo(
  chats: ChatGateway,
  names: readonly ('documents' | 'tickets' | 'policies')[],
): Promise<Record<string, Upstream>> {
  const upstreams: Record<string, Upstream> = {};
  for (const name of names) {
    const upstream = await startFixture(`demo-${name}`);
    upstreams[name] = upstream;
    await addServer(chats, name, `${upstream.origin}/sse`, { transport_type: 'SSE' });
  }
  return upstreams;
}
