/**
 * The bare relay: the least that a gateway Worker can do, and so the baseline for Portico, beside it in the same workerd.
 *
 * Owns: `POST /relay?to={upstream URL}` (reads the body, parses it, replaces the qualified tool name by the tool's own, fetches the
 * upstream, streams the response back), `PUT /list` and `POST /list` (keeps one body and responds to every request with it), and any other
 * path, which gets `ok` (the ceiling of host and load generator together). Refuses nothing: no authentication, no session, no limit, no
 * check. It is a baseline, and is never deployed.
 */
const FORWARDED = ['accept', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method'];
const JSON_HEADERS = { 'content-type': 'application/json' };

let list: Uint8Array<ArrayBuffer> = new Uint8Array();

interface RpcMessage {
  params?: { name?: string };
}

/** Forwards one MCP request to the upstream named in the query, with the server's part cut off the tool name. */
async function relay(request: Request, to: string): Promise<Response> {
  const message: RpcMessage = JSON.parse(await request.text());
  const headers = new Headers(JSON_HEADERS);
  for (const name of FORWARDED) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const qualifiedName = message.params?.name;
  if (message.params && qualifiedName !== undefined) {
    message.params.name = qualifiedName.slice(qualifiedName.indexOf('.') + 1);
    if (headers.has('mcp-method')) headers.set('mcp-name', message.params.name);
  }
  return fetch(to, { method: 'POST', headers, body: JSON.stringify(message), redirect: 'manual' });
}

export default {
  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const to = url.searchParams.get('to');
    if (to !== null) return relay(request, to);
    if (url.pathname !== '/list') return new Response('ok');
    if (request.method === 'PUT') list = new Uint8Array(await request.arrayBuffer());
    else JSON.parse(await request.text());
    return new Response(list, { headers: JSON_HEADERS });
  },
};
