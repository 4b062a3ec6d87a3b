/** Ask in a scripted environment: a gateway with a few tools, a model with scripted replies, and recorded spans. */
import { toCaller, type Caller } from '../../../src/access/policy/caller.ts';
import type { ListedItem } from '../../../src/gateway/listing.ts';
import type { Viewer, VisibleServers } from '../../../src/gateway/viewer.ts';
import { SETUP_TOKEN } from '../../../src/shared/identity/principal.ts';
import type { AllowEntry } from '../../../src/agents/ask/allow-list.ts';
import { AskService, type AskInput } from '../../../src/agents/ask/ask-service.ts';
import type { TurnReply } from '../../../src/models/formats/dialect.ts';
import type { Gateway, RelayedRequest } from '../../../src/gateway/gateway.ts';
import { rawMembers } from '../../../src/shared/json/json-spans.ts';
import type { ChatTurnRequest, ChatModel } from '../../../src/models/chat-port.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import type { Span, Tracer } from '../../../src/tracing/tracer.ts';

export interface ScriptedTool {
  server: string;
  name: string;
  description?: string;
  inputSchema?: object;
  outputSchema?: object;
  annotations?: object;
}

export interface Script {
  tools?: ScriptedTool[];
  entries?: AllowEntry[];
  /** Replies of the model, in order. */
  replies?: (string | Partial<TurnReply> | Error)[];
  /** Result of the tool. */
  result?: object;
  blocked?: string[];
  maxTokens?: number;
  /** The allow-list after the model answered. */
  entriesLater?: AllowEntry[];
  /** The model answers later than a request may take. */
  isLate?: boolean;
}

export interface ToldSpan {
  name: string;
  attributes: Record<string, unknown>;
  decision: string | undefined;
  error: string | undefined;
}

const READ = { readOnlyHint: true };
export const TOOLS: ScriptedTool[] = [
  {
    server: 'documents',
    name: 'fetch',
    inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    annotations: READ,
  },
  { server: 'documents', name: 'delete', annotations: { destructiveHint: true } },
  { server: 'tickets', name: 'get', annotations: READ },
];
export const EVERYTHING: AllowEntry[] = [{ server: '*', tool: '*', sideEffects: false }];

const idOf = (name: string) => `id-${name}`;
const toItem = ({ server, ...tool }: ScriptedTool): ListedItem => ({
  name: `${server}.${tool.name}`,
  server: { id: idOf(server), name: server },
  item: { key: tool.name, raw: rawMembers(JSON.stringify({ inputSchema: {}, ...tool })) },
});

/** A caller with the scopes of an administrator, or with the given ones. */
export function callerWith(scopes?: string[]): Caller {
  const token = { ...SETUP_TOKEN, ...(scopes ? { scopes: scopes as never } : {}) };
  return toCaller(token, { defaultAccess: 'open', rules: [], toolsets: [] });
}

export function scriptAsk(script: Script) {
  const tools = script.tools ?? TOOLS;
  const asked: ChatTurnRequest[] = [];
  const calls: { serverId: string; tool: string; args: unknown; visible: VisibleServers }[] = [];
  const refusals: { subject: string | undefined; message: string }[] = [];
  const spans: ToldSpan[] = [];
  let now = 1_000;
  const replies = [...(script.replies ?? [])];

  const model: ChatModel = {
    name: 'scripted',
    dialect: undefined as never,
    costOf: ({ input, output }) => (input + output) / 1_000_000,
    async chat(ask) {
      asked.push(ask);
      if (script.isLate) now += 1_000_000;
      const reply = replies.shift() ?? '';
      if (reply instanceof Error) throw reply;
      const given: Partial<TurnReply> = typeof reply === 'string' ? { text: reply } : reply;
      const { tokens = { input: 100, output: 20 }, ...said } = given;
      return { text: '', calls: [], raw: undefined, stop: 'end', ...said, tokens };
    },
  };
  const seen = (visible: VisibleServers) =>
    tools.map(toItem).filter(({ server, item }) => {
      const view = visible.views?.get(server.id);
      const isThere = visible.servers.some(({ id }) => id === server.id);
      const isRead = item.raw.get('annotations')?.includes('"readOnlyHint":true') ?? false;
      return isThere && (view?.tool(item.key, isRead) ?? true);
    });
  const gateway = {
    list: async ({ visible }: Viewer) => ({ items: seen(visible), ttlMs: 0 }),
    search: async ({ visible }: Viewer, { limit }: { limit: number }) => ({
      hits: seen(visible).slice(-limit),
      serversSearched: 1,
      toolsSearched: 1,
    }),
    async request({ visible, naming }: Viewer, { reference, params }: RelayedRequest) {
      const serverId = naming.kind === 'own' ? naming.serverId : '';
      const args: unknown = JSON.parse(params.get('arguments') ?? '');
      calls.push({ serverId, tool: reference.name, args, visible });
      const result = JSON.stringify(script.result ?? { content: [{ type: 'text', text: 'done' }] });
      return { reply: { response: { kind: 'response', parsed: {}, result } } };
    },
    spend: async () => {},
    async refused(_caller: Caller, { subject, thrown }: { subject?: string; thrown: Error }) {
      refusals.push({ subject, message: thrown.message });
    },
  } as unknown as Gateway;

  const tracer: Tracer = {
    start: (name, attributes) => toSpan(name, attributes),
  };
  function toSpan(name: string, attributes: object = {}): Span {
    const told: ToldSpan = {
      name,
      attributes: { ...attributes },
      decision: undefined,
      error: undefined,
    };
    spans.push(told);
    return {
      traceId: '0123456789abcdef0123456789abcdef',
      child: toSpan,
      set: more => void Object.assign(told.attributes, more),
      end: end => void Object.assign(told, end),
    };
  }

  let reads = 0;
  const service = new AskService({
    gateway,
    allowedTo: async () => {
      reads += 1;
      return (reads > 1 ? script.entriesLater : undefined) ?? script.entries ?? EVERYTHING;
    },
    model,
    tracer,
    settings: {
      input: { maxChars: 200, blocked: script.blocked ?? [] },
      most: { calls: 1, questions: 2, tokens: script.maxTokens ?? 10_000, elapsedMs: 60_000 },
    },
    now: () => now,
  });
  const servers = [...new Set(tools.map(({ server }) => server))].map(
    name => ({ id: idOf(name), name }) as Server,
  );
  const standing = { caller: callerWith(), visible: { servers } };
  const ask = (request: string, more: Partial<AskInput> = {}) =>
    service.ask({
      ...standing,
      request,
      summarize: false,
      dryRun: false,
      source: 'rest',
      context: { signal: new AbortController().signal, owner: () => 'owner', waitUntil() {} },
      again: async () => standing,
      ...more,
    });
  return { ask, asked, calls, refusals, spans };
}

/** A plan as a model writes it. */
export const planOf = (server: string, tool: string, args: object = {}): string =>
  JSON.stringify({ type: 'call_tool', server, tool, args });
