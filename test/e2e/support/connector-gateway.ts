/**
 * The gateway's half of a connector's connection, for tests: a real HTTP and WebSocket server that speaks
 * `src/upstream/connector/frames.ts`, without code of the Worker. It checks independently that the connector follows the rules of the
 * frames: flow control credit, no frame after an end, none for a channel that is not open.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readBody } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import { SUBPROTOCOL } from '../../../src/upstream/connector/frames.ts';
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { Link } from './connector-link.ts';

export const ORDINARY_TOKEN = `portico_device_${Buffer.alloc(32, 7).toString('base64url')}`;

export interface ConnectorGateway {
  origin: string;
  /** Connections so far, the newest last. */
  links: Link[];
  /** Bodies of the registrations so far. */
  told: { servers: { name: string; description: string }[] }[];
  /** Enrolment requests so far, with their tokens. */
  enrolments: { name: string; authorization: string | undefined }[];
  /** Called before an enrolment is answered. */
  onEnrolment(): void;
  /** Names that the registry refuses. */
  taken: Set<string>;
  /** The status that a registration is refused with. */
  refuseWith: number | undefined;
  /** Resolves with the next accepted connection. */
  nextLink(): Promise<Link>;
  /** Closes it. Throws if a connector broke the rules of the frames. */
  close(): Promise<void>;
}

/** Listens on a loopback port that it keeps when it restarts. */
export async function startConnectorGateway(
  token = ORDINARY_TOKEN,
  port?: number,
): Promise<ConnectorGateway> {
  const waiting: ((link: Link) => void)[] = [];
  const state: Omit<ConnectorGateway, 'origin' | 'nextLink' | 'close'> = {
    links: [],
    told: [],
    enrolments: [],
    onEnrolment() {},
    taken: new Set(),
    refuseWith: undefined,
  };
  const server = createServer((request, response) => void answer(state, token, request, response));
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => SUBPROTOCOL });
  server.on('upgrade', (request, socket, head) => {
    const isRight = request.url === '/connect' && isAuthorized(request, token);
    if (!isRight) return void socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, opened => {
      const link = new Link(opened, socket, () => waiting.shift()?.(link));
      state.links.push(link);
    });
  });
  server.listen(port ?? (await findFreePort()), '127.0.0.1');
  await once(server, 'listening');
  const { port: listening } = server.address() as AddressInfo;
  return Object.assign(state, {
    origin: `http://127.0.0.1:${listening}`,
    nextLink: () => new Promise<Link>(resolve => void waiting.push(resolve)),
    async close() {
      for (const link of state.links) link.cut();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      const breaches = state.links.flatMap(link => link.breaches);
      if (breaches.length > 0) throw new Error(`The connector broke rules: ${breaches.join(', ')}`);
    },
  });
}

const isAuthorized = ({ headers }: IncomingMessage, token: string): boolean =>
  headers.authorization === `Bearer ${token}`;

async function answer(
  state: Omit<ConnectorGateway, 'origin' | 'nextLink' | 'close'>,
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const body = JSON.parse((await readBody(request)) || '{}') as Record<string, unknown>;
  const connector = { id: 'c-1', name: 'laptop' };
  if (request.method === 'POST' && request.url === '/api/v1/connectors') {
    const name = String(body['name']);
    state.enrolments.push({ name, authorization: request.headers.authorization });
    state.onEnrolment();
    const isTaken = state.taken.has(name);
    return isTaken
      ? send(409, { title: 'Taken' })
      : send(201, { connector: { ...connector, name }, token });
  }
  if (request.method !== 'PUT' || request.url !== '/api/v1/connectors/self/servers') {
    return send(404, { title: 'Not found' });
  }
  if (!isAuthorized(request, token)) return send(401, { title: 'Unauthorized' });
  if (state.refuseWith !== undefined) return send(state.refuseWith, { detail: 'not today' });
  const { servers } = body as unknown as ConnectorGateway['told'][number];
  state.told.push({ servers });
  const records = servers.map(({ name }) =>
    state.taken.has(name)
      ? { name, id: null, registered_as: null, problem: 'another server has this name' }
      : { name, id: `s-${name}`, registered_as: name, problem: null },
  );
  return send(200, { connector, servers: records });
}
