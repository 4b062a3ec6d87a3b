/** Creates the upstream endpoints of a deployment: those on the network and those behind its connectors. */
import { waitUntil } from 'cloudflare:workers';
import type { Config } from '../config.ts';
import type { ObjectsByName } from '../shared/util/objects-by-name.ts';
import { bytesOfIsolate } from '../shared/limits/bytes-in-flight.ts';
import type { AccessTokenSource } from '../credentials/oauth/grant-schema.ts';
import {
  RemoteAccountTokens,
  type AccountTokenRemote,
} from '../servers/accounts/remote-account-tokens.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { UpstreamEndpoints } from '../upstream/endpoint.ts';
import { createConnectorFetch } from '../upstream/connector/connector-fetch.ts';

export function createUpstreamEndpoints(
  connectors: ObjectsByName<Pick<Fetcher, 'fetch'>>,
  keys: KeyRing,
  config: Pick<Config, 'allowsLoopback' | 'bytesInFlight'>,
  tokens: AccessTokenSource,
  clients: ObjectsByName<AccountTokenRemote>,
): UpstreamEndpoints {
  const outboundFetch = createConnectorFetch(async connectorId => {
    const headers = { upgrade: 'websocket' };
    const response = await connectors.getByName(connectorId).fetch('https://connector/call', {
      headers,
    });
    return response.webSocket;
  });
  // Bytes of everything that is read outside a call: handshakes and lists.
  const openBytes = () => bytesOfIsolate(config.bytesInFlight).request('upstreams');
  const accounts = new RemoteAccountTokens(owner => clients.getByName(owner), waitUntil);
  const { allowsLoopback } = config;
  return new UpstreamEndpoints(keys, allowsLoopback, tokens, accounts, outboundFetch, openBytes);
}
