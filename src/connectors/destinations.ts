/** Destinations of a deployment: the network's, and those behind the deployment's connectors. */
import type { AccessTokenSource } from '../secrets/grant-schema.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { Destinations } from '../upstream/destination.ts';
import type { Connector } from './connector-object.ts';
import { createConnectorOutlet } from './remote-outlet.ts';

export function createDestinations(
  connectors: DurableObjectNamespace<Connector>,
  keys: KeyRing,
  localMode: boolean,
  tokens: AccessTokenSource,
): Destinations {
  const outlet = createConnectorOutlet(async connectorId => {
    const headers = { upgrade: 'websocket' };
    const response = await connectors.getByName(connectorId).fetch('https://connector/call', {
      headers,
    });
    return response.webSocket;
  });
  return new Destinations(keys, localMode, tokens, outlet);
}
