/** Mcp-remote: each client starts a process and uses it over stdio. */
import type { Gateway } from '../gateway.ts';
import { onlyOne, packageFile, peerEnvironment, pinnedVersion } from '../packages.ts';

export const mcpRemote: Gateway = {
  name: 'mcp-remote',
  version: pinnedVersion('mcp-remote'),
  joins: false,
  reaches: 'http',
  caveat: '`mcp-remote URL --protocol auto`, started by its client, so measured with one.',
  start(upstreams, home) {
    const file = packageFile('node_modules/mcp-remote/dist/proxy.js');
    const command = [file, onlyOne(upstreams).url, '--protocol', 'auto'];
    const env = { ...peerEnvironment(home), MCP_REMOTE_CONFIG_DIR: home };
    return Promise.resolve({
      endpoint: { transport: 'stdio', command, env },
      pids: [],
      stop: () => Promise.resolve(),
    });
  },
};
