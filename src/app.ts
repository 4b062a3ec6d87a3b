/** Routes: the MCP endpoints first, since they are the path of a call; then health; then the API. */
import { createApi } from './api/api.ts';
import type { ApiPorts } from './api/frame.ts';
import { IMPLEMENTATION } from './protocol.ts';
import { parseEndpoint } from './mcp/endpoint.ts';
import { handleMcp, type McpPorts } from './mcp/route.ts';
import { handleSse } from './mcp/sse-route.ts';

export type AppPorts = ApiPorts & McpPorts;

export interface App {
  fetch(request: Request, context: ExecutionContext): Response | Promise<Response>;
}

const SERVER_PATH = /^\/mcp\/servers\/([^/]+)$/;

/** Build the application. */
export function createApp(ports: AppPorts): App {
  const api = createApi(ports);

  function mcp(request: Request, url: URL, context: ExecutionContext, serverName?: string) {
    const endpoint = () => parseEndpoint(url.pathname, url.searchParams.get('names'), serverName);
    return handleMcp(request, url, endpoint, ports, work => context.waitUntil(work));
  }

  return {
    fetch(request, context) {
      const url = new URL(request.url);
      if (url.pathname === '/mcp') return mcp(request, url, context);
      if (url.pathname === '/sse' || url.pathname === '/messages') {
        return handleSse(request, url, ports, work => context.waitUntil(work));
      }
      const server = SERVER_PATH.exec(url.pathname)?.[1];
      if (server !== undefined) return mcp(request, url, context, decodeName(server));
      if (url.pathname === '/health' && request.method === 'GET') {
        return Response.json({ status: 'ok', version: IMPLEMENTATION.version });
      }
      return api.fetch(request, {}, context);
    },
  };
}

/** A path part as text; what is no valid encoding names no server. */
function decodeName(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
