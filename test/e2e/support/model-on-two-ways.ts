/**
 * A filter in front of a fake model that passes only what a test is about. The gateway also asks this model to classify tools, after every
 * discovery, and would use up turns of the script. Those requests are refused here.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { readBody } from '../../fixtures/serve.ts';

/** How the system text of a classification request begins. */
const SKILLS = 'You sort tools into skills';

export interface ModelDoor {
  origin: string;
  stop(): Promise<void>;
}

export async function openModelDoor(model: Upstream): Promise<ModelDoor> {
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    if (body.includes(SKILLS)) {
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{}}');
      return;
    }
    const headers = {
      'content-type': 'application/json',
      authorization: request.headers.authorization ?? '',
    };
    const answer = await fetch(`${model.origin}${request.url ?? '/'}`, {
      method: 'POST',
      headers,
      body,
    });
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
    });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
