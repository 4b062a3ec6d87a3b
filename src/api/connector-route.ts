/** `GET /connect`: the WebSocket of a connector. The token is checked here, once; after that the connector talks to its object. */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { parseDeviceToken } from '../servers/connectors/connector-schema.ts';
import type { Connectors } from '../servers/connectors/connector-service.ts';
import { SUBPROTOCOL } from '../upstream/connector/frames.ts';

export interface ConnectPorts {
  connectors: Connectors;
  /** Passes the machine's WebSocket request to the connector's object. */
  openMachine(machine: { id: string; name: string; rotatedAt: number }): Promise<Response>;
}

/** Serves the request of a connector that dials in. */
export async function handleConnect(request: Request, ports: ConnectPorts): Promise<Response> {
  const { headers } = request;
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map(text => text.trim());
  if (headers.get('upgrade')?.toLowerCase() !== 'websocket' || !offered.includes(SUBPROTOCOL)) {
    const detail = `This is for \`portico connect\`: a WebSocket with the subprotocol ${SUBPROTOCOL}`;
    return toProblemResponse(new PorticoError('invalid_request', detail));
  }
  // A page in a browser has no device token and no reason to connect.
  if (headers.has('origin')) return toProblemResponse(new PorticoError('origin_refused'));
  const token = parseDeviceToken(headers.get('authorization'));
  const connector = await ports.connectors.authenticate(token);
  if (!connector) return toProblemResponse(new PorticoError('unauthorized'));
  const { id, name, rotated_at: rotatedAt } = connector;
  return ports.openMachine({ id, name, rotatedAt });
}
