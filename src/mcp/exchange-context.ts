/** What the handlers of either era work with for one request. */
import type { Caller } from '../access/principal.ts';
import type { Gateway, ToolReference } from '../gateway/gateway.ts';
import { PorticoError } from '../errors/portico-error.ts';
import type { RawObject } from '../lib/json-spans.ts';
import type { RpcRequest } from '../protocol.ts';
import type { CallContext } from '../upstream/upstreams.ts';
import type { Scope } from './endpoint.ts';

export interface Exchange {
  caller: Caller;
  scope: Scope;
  gateway: Gateway;
  context: CallContext;
  pageSize: number;
  acceptsStream: boolean;
}

/** The cursor of a list request. */
export function cursorOf(request: RpcRequest): string | undefined {
  const cursor = request.params?.['cursor'];
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw new PorticoError('invalid_params', 'The cursor must be a string');
}

/** The tool a call names, and its raw params. */
export function toolReferenceOf(request: RpcRequest, scope: Scope): ToolReference {
  const name = request.params?.['name'];
  if (typeof name !== 'string' || name === '') {
    throw new PorticoError('invalid_params', 'params.name must be the name of a tool');
  }
  return scope.serverId === undefined
    ? { kind: 'qualified', name }
    : { kind: 'own', name, serverId: scope.serverId };
}

/** Call the tool a request names. */
export function callTool(exchange: Exchange, request: RpcRequest, params: RawObject) {
  const { gateway, caller, scope, context } = exchange;
  const reference = toolReferenceOf(request, scope);
  return gateway.callTool(caller, scope.reach, { reference, params }, context);
}
