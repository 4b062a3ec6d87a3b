/** Errors as JSON-RPC error responses, for the MCP endpoint. */
import { idText, type Era, type RequestId } from '../protocol.ts';
import type { PorticoError } from './portico-error.ts';
import { toErrorHeaders } from './to-problem.ts';

/** Returns the text of a JSON-RPC error response; `id` is null if the request's id could not be read. */
export function toRpcErrorText(error: PorticoError, id: RequestId | null, era: Era): string {
  const { rpc, legacyRpc } = error.entry;
  const code = era === 'legacy' && legacyRpc !== undefined ? legacyRpc : rpc;
  const { data, serverError } = error.extras;
  const own = { code, message: error.message, ...(data ? { data } : {}) };
  const errorText = serverError ?? JSON.stringify(own);
  const named = id === null && era === 'modern' ? '' : `"id":${idText(id)},`;
  return `{"jsonrpc":"2.0",${named}"error":${errorText}}`;
}

/** Returns the error as an HTTP response; `status` overrides the table's where the protocol wants 200. */
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
