/** Civic's passthrough server, configured by environment variables. */
import type { Gateway } from '../gateway.ts';
import { onlyOne, packageFile, peerEnvironment, pinnedVersion } from '../packages.ts';
import { answers, findPort, startProgram, whenReady } from '../processes.ts';

const NAME = '@civic/passthrough-mcp-server';

export const civicPassthrough: Gateway = {
  name: 'civic-passthrough',
  version: pinnedVersion(NAME),
  joins: false,
  reaches: 'http',
  caveat: `\`${NAME}\` with \`TARGET_SERVER_URL\` and no hooks.`,
  async start(upstreams, home) {
    const port = await findPort();
    const target = new URL(onlyOne(upstreams).url);
    const program = startProgram([packageFile(`node_modules/${NAME}/dist/cli.js`)], {
      env: {
        ...peerEnvironment(home),
        PORT: String(port),
        TARGET_SERVER_URL: target.origin,
        TARGET_SERVER_MCP_PATH: target.pathname,
        TARGET_SERVER_TRANSPORT: 'httpStream',
      },
    });
    // Its endpoint has the path of its upstream.
    const url = `http://127.0.0.1:${port}${target.pathname}`;
    const stop = () => program.stop();
    await whenReady(program, () => answers(url)).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    return { endpoint: { transport: 'http', url }, pids: [program.pid], stop };
  },
};
