/**
 * A receiver of webhooks on loopback, independent of the gateway's code: it verifies signatures by Standard Webhooks 1.0, and accepts
 * events with a right signature that are not older than five minutes.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

const TOLERANCE_S = 300;

export interface Taken {
  id: string;
  text: string;
  body: { type: string; data: { server?: { id: string } } };
}

export interface WebhookReceiver {
  /** The events that it accepted, in order. */
  taken: Taken[];
  /** How many it refused. */
  refused: number;
  stop(): Promise<void>;
}

function isSigned(secret: string, headers: NodeJS.Dict<string | string[]>, text: string): boolean {
  const [id, time] = [headers['webhook-id'], headers['webhook-timestamp']];
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_S) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const wanted = createHmac('sha256', key).update(`${id}.${time}.${text}`).digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${wanted}`);
}

/** Listens on a free port. */
export async function startWebhookReceiver(port: number, secret: string): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', chunk => (text += String(chunk)));
    request.on('end', () => {
      const isTaken = isSigned(secret, request.headers, text);
      if (isTaken) {
        const body = JSON.parse(text) as Taken['body'];
        receiver.taken.push({ id: String(request.headers['webhook-id']), text, body });
      } else receiver.refused += 1;
      response.writeHead(isTaken ? 204 : 401).end();
    });
  });
  const receiver: WebhookReceiver = {
    taken: [],
    refused: 0,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return receiver;
}
