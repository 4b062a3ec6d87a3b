/** Mcp-proxy's functions in front of a server with a URL, which its command cannot reach. */
import type { Gateway } from '../gateway.ts';
import { onlyOne, packageFile, peerEnvironment, pinnedVersion } from '../packages.ts';
import { answers, findPort, startReady } from '../processes.ts';

export const mcpProxyHttp: Gateway = {
  name: 'mcp-proxy-http',
  version: pinnedVersion('mcp-proxy'),
  joins: false,
  reaches: 'http',
  caveat:
    "mcp-proxy's functions in a program of ours (`bench/peers/packages/mcp-proxy-http.mjs`), since its command reaches no server by URL.",
  async start(upstreams, home) {
    const port = await findPort();
    const origin = `http://127.0.0.1:${port}`;
    const { pid, stop } = await startReady(
      [packageFile('mcp-proxy-http.mjs'), String(port), onlyOne(upstreams).url],
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
