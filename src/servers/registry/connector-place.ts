/** Where a server of a connector is, as the registry's address: no network knows its scheme. Pure. */

const SCHEME = 'connector:';

export interface ConnectorPlace {
  connectorId: string;
  /** The name it has on that machine. */
  server: string;
}

/** The place as an address that only {@link parsePlace} reads. */
export function toPlaceUrl({ connectorId, server }: ConnectorPlace): string {
  return `${SCHEME}//${connectorId}/${encodeURIComponent(server)}`;
}

/** @returns undefined for the address of a server on the network */
export function parsePlace(url: string): ConnectorPlace | undefined {
  if (!url.startsWith(`${SCHEME}//`)) return undefined;
  const [connectorId = '', server = ''] = url.slice(SCHEME.length + 2).split('/');
  return { connectorId, server: decodeURIComponent(server) };
}
