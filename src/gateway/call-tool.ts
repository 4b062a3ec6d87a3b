/**
 * A call of a tool for those who take a whole result and cannot be asked anything: REST, models, ask. It is a request like any other;
 * a server that wants to know something is told that nobody answers, and the row of the call says so.
 */
import type { Viewer } from './viewer.ts';
import type { CacheDirective } from './cache/cache-control.ts';
import type { Era } from '../shared/protocol.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { CallContext } from '../upstream/protocol/call.ts';
import type { RawResponse } from '../upstream/protocol/message.ts';
import { finalResponse } from '../upstream/protocol/final-response.ts';
import type { Gateway } from './gateway.ts';

export interface ToolCall {
  viewer: Viewer;
  /** As the viewer's naming has it. */
  name: string;
  /** Raw JSON of the arguments. */
  args: string;
  source: Era | 'rest';
  cache?: CacheDirective | undefined;
  context: Pick<
    CallContext,
    'signal' | 'origin' | 'owner' | 'waitUntil' | 'bytes' | 'operation' | 'onDispatch'
  >;
}

export interface ToolAnswer {
  server: Server;
  /** Undefined where the server asks for input in place of a result. */
  response: RawResponse | undefined;
}

/** @throws ServerFailure, PorticoError as `Gateway.request` */
export async function callTool(
  gateway: Pick<Gateway, 'request'>,
  { viewer, name, args, source, cache, context }: ToolCall,
): Promise<ToolAnswer> {
  const request = {
    method: 'tools/call',
    reference: { kind: 'tool', name },
    params: new Map([['arguments', args]]),
    source,
    cache,
  } as const;
  const asking = { ...context, capabilities: {}, questions: 'ask' } as const;
  const routed = await gateway.request(viewer, request, asking);
  const response = await finalResponse(routed.reply);
  if (response.parsed['resultType'] !== 'input_required')
    return { server: routed.server, response };
  routed.onReplaced?.('upstream_needs_input');
  return { server: routed.server, response: undefined };
}
