/**
 * What a modern client gets of a server's request for input. An `input_required` result that asks for input which the client did not declare
 * it can give is refused: the client gets the protocol's own error and nothing of the result. The refusal with which a server of 2025-11-25
 * sends people to links, which modern clients do not know, becomes such a result. Pure.
 * Source: MCP 2026-07-28, Multi Round-Trip Requests; `MissingRequiredClientCapabilityError`. 2025-11-25, URL Elicitation Required Error.
 */
import { errorEntry } from '../../shared/errors/table.ts';
import { rawMembers } from '../../shared/json/json-spans.ts';
import { isObject, RPC, type JsonObject } from '../../shared/protocol.ts';
import { canAnswer, capabilityFor, fillsForms } from '../../shared/client-capabilities.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';

/**
 * @param response an `input_required` result
 * @param capabilities the client capabilities as declared
 * @returns the error, or the response itself if the client can answer all of its requests
 */
export function withoutUndeclaredInput(
  response: RawResponse & { result: string },
  capabilities: JsonObject,
): RawResponse {
  const requests = rawMembers(response.result).get('inputRequests');
  const wanted: unknown = requests === undefined ? {} : JSON.parse(requests);
  const missing: JsonObject = {};
  for (const request of isObject(wanted) ? Object.values(wanted) : []) {
    Object.assign(missing, missingFor(request, capabilities));
  }
  if (Object.keys(missing).length === 0) return response;
  const { rpc, title } = errorEntry('missing_client_capability');
  const error = { code: rpc, message: title, data: { requiredCapabilities: missing } };
  return { kind: 'response', error: JSON.stringify(error), parsed: error };
}

/** Returns the request to open the links that a server refused a call for; undefined for every other response. */
export function toLinkRequests(
  response: RawResponse,
): (RawResponse & { result: string }) | undefined {
  if (!('error' in response) || response.parsed['code'] !== RPC.urlElicitationRequired) {
    return undefined;
  }
  const { data } = response.parsed;
  const links: unknown = isObject(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(links) || links.length === 0 || !links.every(isLink)) return undefined;
  const requests = links.map(({ url, message }, at) => [
    `open_link_${at + 1}`,
    { method: 'elicitation/create', params: { mode: 'url', message, url } },
  ]);
  const parsed = { resultType: 'input_required', inputRequests: Object.fromEntries(requests) };
  return { kind: 'response', result: JSON.stringify(parsed), parsed };
}

const isLink = (value: unknown): value is { url: string; message: string } =>
  isObject(value) && typeof value['url'] === 'string' && typeof value['message'] === 'string';

/** Returns the capabilities that a client lacks for a request; nothing if it can answer, or if no capability is known for the request. */
function missingFor(request: unknown, capabilities: JsonObject): JsonObject {
  const { method, params } = isObject(request) ? request : {};
  const needed = typeof method === 'string' ? capabilityFor(method) : undefined;
  if (needed === undefined) return {};
  const part = isObject(params) ? partOf(needed, params) : undefined;
  if (!canAnswer(capabilities, String(method))) {
    return { [needed]: part === undefined ? {} : { [part]: {} } };
  }
  if (part === undefined || hasPart(capabilities, needed, part)) return {};
  return { [needed]: { [part]: {} } };
}

/** Returns the part of a capability that a request needs beyond the capability itself. */
function partOf(needed: string, params: JsonObject): string | undefined {
  if (needed === 'elicitation') return params['mode'] === 'url' ? 'url' : 'form';
  if (needed === 'sampling' && params['tools'] !== undefined) return 'tools';
  return undefined;
}

function hasPart(capabilities: JsonObject, needed: string, part: string): boolean {
  if (part === 'form') return fillsForms(capabilities);
  const capability = capabilities[needed];
  return isObject(capability) && capability[part] !== undefined;
}
