/**
 * Which tools a model is shown, and how its calls are made: with the caller's rights at that moment. Where there are more tools than a
 * model handles well, it is shown those that fit the user's last message best, and those that the chat has already called.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { ListedItem } from '../../gateway/listing.ts';
import type { Naming, CallerView, Viewer, VisibleServers } from '../../gateway/viewer.ts';
import { principalOwner } from '../../shared/identity/object-owners.ts';
import { hasScope } from '../../shared/identity/principal.ts';
import type { Dialect } from '../../models/formats/dialect.ts';
import { toDialectNames } from '../../models/formats/dialects.ts';
import type {
  CanonicalCall,
  CanonicalResult,
  CanonicalTool,
} from '../../models/formats/canonical-form.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { withinToolset } from '../../gateway/toolset-scope.ts';
import type { CallsFor, CallsWatch } from '../run-calls.ts';
import type { Era } from '../../shared/protocol.ts';
import type { Operation } from '../../telemetry/operation.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { MAX_FOUND, MAX_QUERY_CHARS } from '../../search/rank/limits.ts';
import type { ChatState, StoredCall } from './chat-state.ts';
import type { Shown } from './loop.ts';

/** Most tools that a model is shown; of more, the best that a search finds. */
export const MAX_SHOWN_TOOLS = 128;

/** The caller, for as long as its request lasts, and what its endpoint lets it use. */
export interface ChatCaller extends CallerView {
  source: Era | 'rest';
  /** Returns its current rights; undefined where its token is gone. */
  rights(): Promise<CallerView | undefined>;
  /** Aborts when the caller leaves. */
  signal: AbortSignal;
  /** Origin of the gateway, as the caller addresses it. */
  origin: string | undefined;
  /** Of the trace that it belongs to, if any (W3C Trace Context). */
  traceparent: string | undefined;
  /** The request that it is part of, if that is observed. */
  operation?: Operation | undefined;
  /** Runs work that outlives the response. */
  waitUntil: WaitUntil;
}

export interface ToolPorts {
  gateway: Gateway;
  /** How tools are named for models. */
  naming: Naming;
  listForModel(
    gateway: Gateway,
    view: CallerView,
  ): Promise<{ tools: CanonicalTool[]; items: ReadonlyMap<string, ListedItem> }>;
  runCalls(
    calls: readonly CanonicalCall[],
    to: CallsFor,
    watch?: CallsWatch,
  ): Promise<CanonicalResult[]>;
}

/** Returns what may be shown now; undefined where the caller may use nothing any more. */
export async function findShown(
  ports: ToolPorts,
  chatCaller: ChatCaller,
  dialect: Dialect,
  state: ChatState,
): Promise<Shown | undefined> {
  const rights = await chatCaller.rights();
  if (!rights || !hasScope(rights.caller, 'tools:call')) return undefined;
  if (!hasScope(rights.caller, 'tools:read')) return undefined;
  const { gateway, naming, listForModel, runCalls } = ports;
  const { caller } = rights;
  const viewer = { caller, visible: toVisible(rights, state.only), naming };
  const { tools: all, items } = await listForModel(gateway, viewer);
  // Names are assigned over all tools together, so that a tool keeps its name whichever others are shown.
  const names = toDialectNames(dialect.format, all);
  const called = calledNames(state);
  const isCalled = (name: string) => called.has(names.get(name) ?? name);
  const tools =
    all.length <= MAX_SHOWN_TOOLS ? all : await choose(gateway, viewer, state, all, isCalled);
  const exported = dialect.toTools(tools, { strict: false, names });
  const byName = new Map<string, ListedItem>();
  for (const [name, own] of exported.names) {
    const item = items.get(own);
    if (item) byName.set(name, item);
  }
  const { source, origin, waitUntil } = chatCaller;
  const owner = (serverId: string) => principalOwner(caller.principalId, serverId);
  return {
    tools: tools.length === 0 ? undefined : exported,
    items: byName,
    run: (calls, watch, signal) =>
      runCalls(
        calls,
        { gateway, viewer, source, context: { signal, origin, owner, waitUntil }, tools: byName },
        { onEnd: ({ id }, result) => watch(id, result) },
      ),
  };
}

/** Returns the servers and tools that a chat is limited to; names that are unknown or hidden match nothing. */
function toVisible(
  { caller, visible }: CallerView,
  { servers: wanted, toolset: name }: ChatState['only'],
): VisibleServers {
  const isWanted = (server: Server) =>
    wanted === undefined || wanted.includes(server.name) || wanted.includes(server.id);
  const servers = visible.servers.filter(isWanted);
  if (name === undefined) return { ...visible, servers };
  const toolset = caller.policy.toolset(name);
  return toolset ? withinToolset(toolset, { ...visible, servers }) : { servers: [] };
}

/**
 * Returns the dialect names of tools that the chat has called. A call that is still undecided does not count, since it may name a tool that
 * was not shown.
 */
function calledNames({ messages, turn }: ChatState): ReadonlySet<string> {
  const isDecided = ({ decision }: StoredCall) =>
    decision === 'waiting' || decision === 'allowed' || decision === 'approved';
  const now = turn.filter(isDecided).map(({ call }) => call.name);
  const past = turn.length === 0 ? messages : messages.slice(0, -1);
  return new Set([
    ...now,
    ...past.flatMap(message =>
      message.role === 'assistant' ? message.calls.map(({ name }) => name) : [],
    ),
  ]);
}

/** Returns the tools that fit the last message best, and those that the chat has called, in the order of the list. */
async function choose(
  gateway: Gateway,
  viewer: Viewer,
  state: ChatState,
  all: readonly CanonicalTool[],
  isCalled: (name: string) => boolean,
): Promise<CanonicalTool[]> {
  const said = state.messages.findLast(
    message => message.role === 'user' && message.note === undefined,
  );
  const query = (said?.role === 'user' ? said.text : '').slice(0, MAX_QUERY_CHARS);
  const { hits } = await gateway.search(viewer, { query, limit: MAX_FOUND });
  const found = new Set(hits.map(({ name }) => name));
  const used = all.filter(({ name }) => !found.has(name) && isCalled(name));
  const kept = new Set(used.slice(0, MAX_SHOWN_TOOLS - found.size));
  return all.filter(tool => found.has(tool.name) || kept.has(tool));
}
