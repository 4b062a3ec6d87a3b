/** `GET /connect`: the WebSocket of a connector. Who it is is asked here, once; from then on it speaks with its object. */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { parseDeviceToken } from '../servers/connectors/connector-schema.ts';
import type { Connectors } from '../servers/connectors/connector-service.ts';
import { SUBPROTOCOL } from '../upstream/connector/frames.ts';

export interface ConnectPorts {
  connectors: Connectors;
  /** Hand the machine's request for a socket to the connector's object. */
  openMachine(machine: { id: string; name: string; rotatedAt: number }): Promise<Response>;
}

/** Answer a connector that dials. */
export async function handleConnect(request: Request, ports: ConnectPorts): Promise<Response> {
  const { headers } = request;
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map(text => text.trim());
  if (headers.get('upgrade')?.toLowerCase() !== 'websocket' || !offered.includes(SUBPROTOCOL)) {
    const detail = `This is for \`portico connect\`: a WebSocket with the subprotocol ${SUBPROTOCOL}`;
    return toProblemResponse(new PorticoError('invalid_request', detail));
  }
  // A page of a browser has no device token to send, and no business here.
  if (headers.has('origin')) return toProblemResponse(new PorticoError('origin_refused'));
  const token = parseDeviceToken(headers.get('authorization'));
  const connector = await ports.connectors.authenticate(token);
  if (!connector) return toProblemResponse(new PorticoError('unauthorized'));
  const { id, name, rotated_at: rotatedAt } = connector;
  return ports.openMachine({ id, name, rotatedAt });
}
