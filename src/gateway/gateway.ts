/**
 * The Gateway port: what every face calls and every decorator wraps. Identity, reach and context
 * are arguments. A decorator may only subtract: narrow the reach, refuse, measure, remember.
 */
import type { Caller } from '../access/principal.ts';
import type { CatalogTool } from '../catalog/catalog.ts';
import type { RawObject } from '../lib/json-spans.ts';
import type { Server } from '../registry/server-schema.ts';
import type { CallContext, CallReply } from '../upstream/upstreams.ts';
import type { NameStyle } from './qualified-name.ts';

/** The servers a request may reach; decorators make it smaller, never larger. */
export interface Reach {
  servers: readonly Server[];
}

/** How names are written on an endpoint: qualified in a style, or one server's own. */
export type Naming = { kind: 'qualified'; style: NameStyle } | { kind: 'own' };

/** One tool as it is presented, in the order of the list. */
export interface ListedTool {
  /** Name on this endpoint. */
  name: string;
  server: Server;
  tool: CatalogTool;
}

/** Which tool a caller means. */
export type ToolReference =
  { kind: 'qualified'; name: string } | { kind: 'own'; name: string; serverId: string };

export interface ToolCall {
  reference: ToolReference;
  /** Raw params of `tools/call`; its `name` is replaced by the tool's own. */
  params: RawObject;
}

export interface RoutedReply {
  server: Server;
  reply: CallReply;
}

export interface Gateway {
  /** All tools within reach, sorted by the name of their server. */
  listTools(caller: Caller, reach: Reach, naming: Naming): Promise<readonly ListedTool[]>;
  /**
   * Call a tool.
   * @throws PorticoError `tool_not_found`, `tool_name_unprefixed`, `server_disconnected`;
   *   ToolFailure where the upstream failed
   */
  callTool(
    caller: Caller,
    reach: Reach,
    call: ToolCall,
    context: CallContext,
  ): Promise<RoutedReply>;
}
