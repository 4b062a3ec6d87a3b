/**
 * mcp-proxy in front of a server with a URL. Its command only runs programs; this does the same with the functions of the package, and the
 * SDK's HTTP transport instead of the one over stdio. Arguments: PORT URL.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import {
  acquireListenSubscriptions,
  getUpstreamBridge,
  proxyServer,
  startHTTPServer,
} from 'mcp-proxy';

const [port, url] = process.argv.slice(2);
const client = new Client(
  { name: 'mcp-proxy', version: '1.0.0' },
  { capabilities: {}, versionNegotiation: { mode: 'auto' } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const serverCapabilities = client.getServerCapabilities();

const { notify } = await startHTTPServer({
  port: Number(port),
  host: '127.0.0.1',
  onListenSubscriptions: uris => acquireListenSubscriptions({ client, uris }),
  async createServer() {
    const server = new Server(client.getServerVersion(), { capabilities: serverCapabilities });
    await proxyServer({ client, server, serverCapabilities });
    return server;
  },
});
getUpstreamBridge({ client }).subscribe({
  promptsListChanged: () => notify.promptsChanged(),
  resourcesListChanged: () => notify.resourcesChanged(),
  resourceUpdated: ({ uri }) => notify.resourceUpdated(uri),
  toolsListChanged: () => notify.toolsChanged(),
});
