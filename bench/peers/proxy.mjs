/** Mcp-proxy in front of a server over HTTP, as its documentation makes one. Arguments: its port, the server's URL. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { proxyServer, startHTTPServer } from 'mcp-proxy';

const [port, url] = process.argv.slice(2);
const client = new Client({ name: 'bench-proxy', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const serverCapabilities = client.getServerCapabilities() ?? {};

await startHTTPServer({
  host: '127.0.0.1',
  port: Number(port),
  async createServer() {
    const server = new Server(client.getServerVersion(), { capabilities: serverCapabilities });
    await proxyServer({ client, server, serverCapabilities });
    return server;
  },
});
