/** Portico as `npm start` runs it, with an ordinary token and default settings. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requestJson } from '../../setup.ts';
import type { Endpoint, Gateway } from '../gateway.ts';
import { findPort, startProgram, whenReady } from '../processes.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const { version }: { version: string } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

interface Registered {
  servers: { status: string }[];
}

export const portico: Gateway = {
  name: 'Portico',
  version,
  joins: true,
  reaches: 'http',
  caveat: '`npm start -- --no-demo`: workerd with embedded stores, a token, rules and the audit.',
  async start(upstreams, home) {
    const admin = `portico_${randomBytes(32).toString('base64url')}`;
    const port = await findPort();
    const origin = `http://127.0.0.1:${port}`;
    const args = ['local/start.mjs', '--port', String(port), '--data', home, '--no-demo'];
    const program = startProgram(args, {
      cwd: ROOT,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, PORTICO_ADMIN_TOKEN: admin },
    });
    try {
      await whenReady(program, async () => (await fetch(`${origin}/health/ready`)).ok);
      const api = `${origin}/api/v1`;
      for (const { name, url } of upstreams) {
        const record = { name, transport_type: 'HTTP', connection_config: { url } };
        await requestJson(`${api}/aggregator/servers`, admin, record);
      }
      await whenReady(program, async () => {
        const { servers } = await requestJson<Registered>(`${api}/aggregator/servers`, admin);
        return servers.every(({ status }) => status === 'CONNECTED');
      });
      const made = await requestJson<{ token: string }>(`${api}/tokens`, admin, { name: 'bench' });
      const endpointOf = (query: string): Endpoint => ({
        transport: 'http',
        url: `${origin}/mcp${query}`,
        headers: { authorization: `Bearer ${made.token}` },
      });
      return {
        endpoint: endpointOf(''),
        pids: [program.pid],
        otherLists: [{ name: 'Portico, ?tools=search', endpoint: endpointOf('?tools=search') }],
        stop: () => program.stop(),
      };
    } catch (error) {
      await program.stop();
      throw error;
    }
  },
};
