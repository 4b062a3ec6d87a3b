/** Mcp-proxy in front of a stdio program, by its command. */
import type { Gateway } from '../gateway.ts';
import { onlyOne, packageFile, peerEnvironment, pinnedVersion } from '../packages.ts';
import { answers, findPort, startReady } from '../processes.ts';

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
    const origin = `http://127.0.0.1:${port}`;
    const { pid, stop } = await startReady(
      [file, ...options, '--', process.execPath, ...onlyOne(upstreams).command],
      { env: peerEnvironment(home) },
      () => answers(`${origin}/ping`),
    );
    return {
      endpoint: { transport: 'http', url: `${origin}/mcp` },
      pids: [pid],
      stop: () => stop(),
    };
  },
};
