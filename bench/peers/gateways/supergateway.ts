/** Supergateway in front of a stdio program, with sessions. */
import type { Gateway } from '../gateway.ts';
import { onlyOne, packageFile, peerEnvironment, pinnedVersion } from '../packages.ts';
import { answers, findPort, startReady } from '../processes.ts';

export const supergateway: Gateway = {
  name: 'supergateway',
  version: pinnedVersion('supergateway'),
  joins: false,
  reaches: 'stdio',
  caveat:
    '`--stdio COMMAND --outputTransport streamableHttp --stateful`: a process of the upstream for each session, which its memory includes.',
  async start(upstreams, home) {
    const port = await findPort();
    const command = [process.execPath, ...onlyOne(upstreams).command]
      .map(word => `"${word}"`)
      .join(' ');
    const file = packageFile('node_modules/supergateway/dist/index.js');
    const output = ['--outputTransport', 'streamableHttp', '--stateful', '--port', String(port)];
    const url = `http://127.0.0.1:${port}/mcp`;
    const args = [file, '--stdio', command, ...output];
    const { pid, stop } = await startReady(args, { env: peerEnvironment(home) }, () =>
      answers(url),
    );
    return { endpoint: { transport: 'http', url }, pids: [pid], stop: () => stop() };
  },
};
