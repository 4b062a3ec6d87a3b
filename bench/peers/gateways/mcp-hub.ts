/** Mcp-hub with a configuration file of URLs; its clients use HTTP+SSE. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gateway } from '../gateway.ts';
import { packageFile, peerEnvironment, pinnedVersion } from '../packages.ts';
import { findPort, startProgram, whenReady } from '../processes.ts';

interface Servers {
  servers: { status: string }[];
}

export const mcpHub: Gateway = {
  name: 'mcp-hub',
  version: pinnedVersion('mcp-hub'),
  joins: true,
  reaches: 'http',
  caveat: '`mcp-hub --port N --config FILE` with a URL for each server. Clients use HTTP+SSE.',
  async start(upstreams, home) {
    const config = join(home, 'hub.json');
    const mcpServers = Object.fromEntries(upstreams.map(({ name, url }) => [name, { url }]));
    await writeFile(config, JSON.stringify({ mcpServers }));
    const port = await findPort();
    const origin = `http://127.0.0.1:${port}`;
    const program = startProgram(
      [packageFile('node_modules/mcp-hub/dist/cli.js'), '--port', `${port}`, '--config', config],
      { env: peerEnvironment(home) },
    );
    const isReady = async () => {
      const { servers } = (await (await fetch(`${origin}/api/servers`)).json()) as Servers;
      return (
        servers.length === upstreams.length &&
        servers.every(({ status }) => status !== 'connecting' && status !== 'disconnected')
      );
    };
    // A server that it cannot reach stays disconnected: its clients get the error, but the run continues.
    await whenReady(program, isReady, 15_000).catch(async (error: unknown) => {
      if (program.hasEnded()) throw error;
    });
    return {
      endpoint: { transport: 'sse', url: `${origin}/mcp` },
      pids: [program.pid],
      stop: () => program.stop(),
    };
  },
};
