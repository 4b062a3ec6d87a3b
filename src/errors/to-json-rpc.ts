/** Errors as JSON-RPC error responses, for the MCP endpoint. */
import type { Era, RequestId } from '../protocol.ts';
import type { PorticoError } from './portico-error.ts';
import { toErrorHeaders } from './to-problem.ts';

/** The text of a JSON-RPC error response; `id` null where the request's id could not be read. */
export function toRpcErrorText(error: PorticoError, id: RequestId | null, era: Era): string {
  const { rpc, legacyRpc } = error.entry;
  const code = era === 'legacy' && legacyRpc !== undefined ? legacyRpc : rpc;
  const { data } = error.extras;
  return JSON.stringify({
    jsonrpc: '2.0',
    ...(id === null && era === 'modern' ? {} : { id }),
    error: { code, message: error.message, ...(data ? { data } : {}) },
  });
}

/** The error as an HTTP response; `status` overrides the table's where the protocol wants 200. */
export function toRpcErrorResponse(
  error: PorticoError,
  id: RequestId | null,
  era: Era,
  status = error.entry.status,
): Response {
  return new Response(toRpcErrorText(error, id, era), {
    status,
    headers: { 'content-type': 'application/json', ...toErrorHeaders(error) },
  });
}
