/** A gateway that a test scripts: a real HTTP server in which a script answers each request. Owns the record of requests, in order. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../fixtures/serve.ts';
import type { Message } from './portico-command.ts';

export interface Came {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
  /** The message of the body; empty if there is none. */
  message: Message;
  /** Whether the client has disconnected. */
  isGone: boolean;
}

export interface ScriptedGateway {
  origin: string;
  came: Came[];
  close(): Promise<void>;
}

/** Answers one request; a response that it does not end stays open. */
export type Script = (came: Came, response: ServerResponse) => void;

export async function startScripted(script: Script): Promise<ScriptedGateway> {
  const came: Came[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      const text = await readBody(incoming);
      const { method = '', url = '', headers } = incoming;
      const message = text === '' ? {} : (JSON.parse(text) as Message);
      const each: Came = { method, url, headers, text, message, isGone: false };
      response.on('close', () => (each.isGone = true));
      came.push(each);
      script(each, response);
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    came,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sends a JSON response. */
export function sendText(response: ServerResponse, text: string, headers = {}, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

/** Returns the result of a request. */
export const resultText = ({ message }: Came, result: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: message.id, result });

/** Starts an event stream. */
export function startEvents(response: ServerResponse): (data: string, id?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  return (data, id) =>
    void response.write(
      `${id === undefined ? '' : `id: ${id}\n`}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`,
    );
}
