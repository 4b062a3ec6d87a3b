/** Supergateway in front of a stdio program, with sessions. */
import type { Gateway } from '../gateway.ts';
import { onlyOne, packageFile, peerEnvironment, pinnedVersion } from '../packages.ts';
import { answers, findPort, startProgram, whenReady } from '../processes.ts';

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
    const program = startProgram([file, '--stdio', command, ...output], {
      env: peerEnvironment(home),
    });
    const url = `http://127.0.0.1:${port}/mcp`;
    const stop = () => program.stop();
    await whenReady(program, () => answers(url)).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    return { endpoint: { transport: 'http', url }, pids: [program.pid], stop };
  },
};
