/** Mcp-proxy in front of a stdio program, by its command. */
import type { Gateway } from '../gateway.ts';
import { onlyOne, packageFile, peerEnvironment, pinnedVersion } from '../packages.ts';
import { answers, findPort, startProgram, whenReady } from '../processes.ts';

export const mcpProxy: Gateway = {
  name: 'mcp-proxy',
  version: pinnedVersion('mcp-proxy'),
  joins: false,
  reaches: 'stdio',
  caveat:
    '`mcp-proxy --port N --upstreamProtocol auto -- COMMAND`: one process of the upstream for all, which its memory includes.',
  async start(upstreams, home) {
    const port = await findPort();
    const file = packageFile('node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs');
    const options = ['--port', String(port), '--upstreamProtocol', 'auto'];
    const program = startProgram(
      [file, ...options, '--', process.execPath, ...onlyOne(upstreams).command],
      { env: peerEnvironment(home) },
    );
    const stop = () => program.stop();
    await whenReady(program, () => answers(`http://127.0.0.1:${port}/ping`)).catch(
      async (error: unknown) => {
        await stop();
        throw error;
      },
    );
    const url = `http://127.0.0.1:${port}/mcp`;
    return { endpoint: { transport: 'http', url }, pids: [program.pid], stop };
  },
};
