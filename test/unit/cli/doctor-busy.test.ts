/** What `portico doctor` says of a token while the gateway cannot answer. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { checkGateway } from '../../../cli/src/doctor/check-gateway.ts';
import { namedToken } from '../../../cli/src/login/token-source.ts';
import { IMPLEMENTATION } from '../../../src/shared/protocol.ts';

it.each([429, 503])(
  '[CLI-4] a token is not called wrong while the gateway answers %s',
  async status => {
    const { version } = IMPLEMENTATION;
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/health' ? 200 : status;
      response.end(JSON.stringify({ status: 'ok', version }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    try {
      const findings = await checkGateway(origin, namedToken('a-token'), Date.now);
      expect(findings.find(({ check }) => check === 'token')).toMatchObject({
        state: 'failed',
        detail: `the gateway answered ${status}`,
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
);
