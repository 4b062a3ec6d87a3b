/** Maps paths to handlers. The MCP endpoints come first, since every call passes here; then health; then the API. */
import type { McpPorts } from './mcp/ports.ts';
import { createApi } from './api/api.ts';
import { handleDocs, isDocsPath } from './api/docs.ts';
import type { ApiPorts } from './api/frame.ts';
import { handleConnect, type ConnectPorts } from './api/connector-route.ts';
import { handleHealth, isHealthPath, type HealthCheckPorts } from './api/health-check.ts';
import { createPublishedSchema, isSchemaPath } from './api/published-schema.ts';
import { parseEndpoint, type EndpointPart } from './mcp/endpoint.ts';
import { withChallenge } from './oauth/challenge.ts';
import { handleOAuth, isOAuthPath, type OAuthPorts } from './oauth/endpoints.ts';
import { servePage, type PagesPorts } from './pages/serve-page.ts';
import { createEntryChecks, type EntryPorts, type Served } from './http/entry-checks.ts';
import type { Operation } from './telemetry/operation.ts';
import { observeHttp } from './telemetry/observe-http.ts';
import { handleMcp } from './mcp/route.ts';
import { handleSse } from './mcp/sse/sse-route.ts';

export type AppPorts = ApiPorts &
  McpPorts &
  PagesPorts &
  EntryPorts &
  ConnectPorts &
  HealthCheckPorts & { oauth: OAuthPorts };

export interface App {
  fetch(request: Request, context: ExecutionContext): Response | Promise<Response>;
}

const PART_PATH = /^\/(mcp|sse)\/(servers|toolsets)\/([^/]+)$/;

/** Builds the application. */
export function createApp(ports: AppPorts): App {
  const api = createApi(ports);
  const answerSchema = createPublishedSchema(ports);

  function mcp(request: Request, url: URL, context: ExecutionContext, part: EndpointPart = {}) {
    const endpoint = () => parseEndpoint(url, part);
    return handleMcp(request, url, endpoint, ports, work => context.waitUntil(work));
  }

  function sse(request: Request, url: URL, context: ExecutionContext, part: EndpointPart = {}) {
    return handleSse(request, url, part, ports, work => context.waitUntil(work));
  }

  const routes: Served<ExecutionContext> = {
    fetch(request, url, context) {
      if (url.pathname === '/mcp') return mcp(request, url, context);
      if (url.pathname === '/sse' || url.pathname === '/messages') {
        return sse(request, url, context);
      }
      const [, transport, kind, encoded] = PART_PATH.exec(url.pathname) ?? [];
      if (encoded !== undefined) {
        const serve = transport === 'sse' ? sse : mcp;
        const name = decodeName(encoded);
        const part = kind === 'servers' ? { serverName: name } : { toolsetName: name };
        return serve(request, url, context, part);
      }
      if (isHealthPath(url.pathname)) return handleHealth(request, url, ports);
      const drained = ports.drain?.answer(request, url);
      if (drained) return drained;
      if (url.pathname === '/connect') return handleConnect(request, ports);
      const source = url.pathname.startsWith('/api/') ? 'rest' : 'http';
      const facts = { source, path: url.pathname, scheme: url.protocol.slice(0, -1) } as const;
      const waitUntil = (work: Promise<unknown>) => context.waitUntil(work);
      return observeHttp(ports.telemetry, request, facts, waitUntil, operation =>
        serveOther(request, url, context, operation),
      );
    },
  };
  /** Serves every other path: docs, schema, OAuth, pages, then the API. */
  function serveOther(
    request: Request,
    url: URL,
    context: ExecutionContext,
    operation: Operation,
  ): Response | Promise<Response> {
    if (isDocsPath(url.pathname)) return handleDocs(request, url, ports);
    if (isSchemaPath(url.pathname)) return answerSchema(request, url);
    if (isOAuthPath(url.pathname)) return handleOAuth(request, url, ports.oauth);
    const page = servePage(request, url, ports);
    if (page) return page;
    // The API's routes read the URL from the request itself.
    const requested = request.url === url.href ? request : new Request(url, request);
    return api.fetch(requested, { operation }, context);
  }
  const challenging: Served<ExecutionContext> = {
    async fetch(request, url, context) {
      const response = await routes.fetch(request, url, context);
      if (response.status !== 401 && response.status !== 403) return response;
      // The OAuth endpoints take no bearer token and send their own challenges.
      return isOAuthPath(url.pathname) ? response : withChallenge(request, url, response);
    },
  };
  return createEntryChecks(ports, challenging);
}

/** Decodes a part of the path. Returns '' for an invalid encoding, which matches no server. */
function decodeName(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
