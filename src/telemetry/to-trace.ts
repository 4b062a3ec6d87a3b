/**
 * Converts an ended request to spans: one server span for the client's request, and one client span for each request to a server. Pure.
 *
 * Source: OpenTelemetry, semantic-conventions-genai, docs/gen-ai/mcp.md (names of spans, attributes, errors), and semantic-conventions,
 * docs/http/http-spans.md, for requests that are not MCP. Attributes without a standard name are under `portico.`.
 */
import { safeValue, safeWord } from '../tracing/safe-attributes.ts';
import type { FinishedSpan, FinishedTrace } from '../tracing/trace.ts';
import type { Attributes } from '../tracing/tracer.ts';
import type { EndedOperation, EndedSending, Ending } from './operation.ts';

/** Returns the spans of a traced operation; undefined where it is not traced. */
export function toTrace(operation: EndedOperation): FinishedTrace | undefined {
  const { trace, startedAt, durationMs, sendings } = operation;
  if (!trace) return undefined;
  const endedAt = startedAt + durationMs;
  const isMcp = operation.source === 'mcp' || operation.source === 'sse';
  const root = toSpan({
    spanId: trace.spanId,
    parentSpanId: trace.parentSpanId,
    link: trace.link,
    kind: 'server',
    name: isMcp ? mcpName(operation) : httpName(operation),
    startedAt,
    endedAt,
    attributes: isMcp ? mcpAttributes(operation) : httpAttributes(operation),
    ending: !isMcp && isOfClient(operation) ? { outcome: 'ok' } : operation,
  });
  const children = sendings.map(sending =>
    toSpan({
      spanId: sending.spanId,
      parentSpanId: trace.spanId,
      kind: 'client',
      name: mcpName(sending),
      startedAt: sending.startedAt,
      endedAt: sending.startedAt + sending.durationMs,
      attributes: sendingAttributes(sending),
      ending: sending,
    }),
  );
  return { traceId: trace.traceId, spans: [root, ...children], droppedSpans: 0, endedAt };
}

/** Whether the client of an HTTP request was at fault, which is no error of a server span (http-spans.md, "Status"). */
const isOfClient = ({ status = 0 }: EndedOperation): boolean => status >= 400 && status < 500;

type Draft = Omit<FinishedSpan, 'droppedAttributes' | 'decision' | 'error'> & { ending: Ending };

function toSpan({ ending, attributes, name, ...span }: Draft): FinishedSpan {
  const kept = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, safeValue('', value)] as const],
  );
  return {
    ...span,
    name: safeWord(name),
    attributes: Object.fromEntries(kept),
    droppedAttributes: 0,
    decision: undefined,
    error: errorType(ending),
  };
}

interface Named {
  method?: string;
  tool?: string;
  prompt?: string;
}

/** `{mcp.method.name} {target}`; a URI is not used as target, since there are too many. */
function mcpName({ method = 'unknown', tool, prompt }: Named): string {
  const target = tool ?? prompt;
  return target === undefined ? method : `${method} ${target}`;
}

/** Methods of HTTP with a standard: others could be any text (http-spans.md, "Method placeholder"). */
const HTTP_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'QUERY',
]);

function httpName({ method = 'GET', route }: EndedOperation): string {
  const name = HTTP_METHODS.has(method) ? method : 'HTTP';
  return route === undefined ? name : `${name} ${route}`;
}

/** Returns `error.type`; undefined where nothing went wrong. */
export function errorType({ outcome, code }: Ending): string | undefined {
  if (outcome === 'ok' || outcome === 'cancelled') return undefined;
  return outcome === 'tool_error' ? outcome : String(code ?? '_OTHER');
}

/** Attributes of MCP spans of both kinds. */
const common = ({ method, tool, prompt, ...ending }: Named & Ending): Attributes => ({
  'mcp.method.name': method ?? 'unknown',
  'gen_ai.tool.name': tool,
  'gen_ai.prompt.name': prompt,
  'gen_ai.operation.name': method === 'tools/call' ? 'execute_tool' : undefined,
  'error.type': errorType(ending),
  'rpc.response.status_code': ending.outcome === 'rpc_error' ? String(ending.code) : undefined,
});

function mcpAttributes(operation: EndedOperation): Attributes {
  const { requestId, sessionId, protocolVersion, uri, server, source } = operation;
  return {
    ...common(operation),
    'jsonrpc.request.id': requestId,
    'mcp.session.id': sessionId,
    'mcp.protocol.version': protocolVersion,
    'mcp.resource.uri': uri,
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'gen_ai.tool.call.arguments': operation.arguments,
    'gen_ai.tool.call.result': operation.result,
    'portico.server': server,
    ...ours(operation),
    'portico.source': source,
  };
}

function httpAttributes(operation: EndedOperation): Attributes {
  const { method = 'GET', route, path, scheme, status, server, tool } = operation;
  const isKnown = HTTP_METHODS.has(method);
  return {
    'http.request.method': isKnown ? method : '_OTHER',
    'http.request.method_original': isKnown ? undefined : method,
    'http.route': route,
    'url.path': path,
    'url.scheme': scheme,
    'http.response.status_code': status,
    'error.type': errorType(operation),
    'gen_ai.tool.name': tool,
    'gen_ai.tool.call.arguments': operation.arguments,
    'gen_ai.tool.call.result': operation.result,
    'portico.server': server,
    ...ours(operation),
  };
}

const ours = ({ principalId, tokenId, isHit, outcome }: EndedOperation): Attributes => ({
  'portico.principal.id': principalId,
  'portico.token.id': tokenId,
  'portico.cached': isHit,
  'portico.outcome': outcome,
});

function sendingAttributes(sending: EndedSending): Attributes {
  const { server, transportType, url, protocolVersion, questions } = sending;
  const isPipe = transportType === 'STDIO';
  const at = isPipe ? null : URL.parse(url);
  return {
    ...common(sending),
    'mcp.protocol.version': protocolVersion,
    'network.transport': isPipe ? 'pipe' : 'tcp',
    'network.protocol.name': isPipe ? undefined : 'http',
    'server.address': at?.hostname,
    'server.port': at ? Number(at.port || (at.protocol === 'https:' ? 443 : 80)) : undefined,
    'portico.server': server,
    'portico.questions': questions === 0 ? undefined : questions,
  };
}
