/**
 * Calls a tool for callers that take a whole result and cannot answer server requests: REST, models, ask. The call runs like any other; a
 * server that sends a request to the client learns that nobody answers, and the row of the call says so.
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
  /** Name of the tool in the viewer's naming. */
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
  /** Undefined if the server asks for input instead of giving a result. */
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
  const answering = { ...context, capabilities: {}, questions: 'ask' } as const;
  const routed = await gateway.request(viewer, request, answering);
  const response = await finalResponse(routed.reply);
  if (response.parsed['resultType'] !== 'input_required')
    return { server: routed.server, response };
  routed.onReplaced?.('upstream_needs_input');
  return { server: routed.server, response: undefined };
}
