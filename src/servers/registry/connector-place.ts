/** The registry's address for a server behind a connector. Its scheme exists only here, so it cannot be fetched over a network. Pure. */

const SCHEME = 'connector:';

export interface ConnectorPlace {
  connectorId: string;
  /** The server's name on that machine. */
  server: string;
}

/** Formats the place as an address that only {@link parsePlace} reads. */
export function toPlaceUrl({ connectorId, server }: ConnectorPlace): string {
  return `${SCHEME}//${connectorId}/${encodeURIComponent(server)}`;
}

/** @returns undefined for the address of a server on the network */
export function parsePlace(url: string): ConnectorPlace | undefined {
  if (!url.startsWith(`${SCHEME}//`)) return undefined;
  const [connectorId = '', server = ''] = url.slice(SCHEME.length + 2).split('/');
  return { connectorId, server: decodeURIComponent(server) };
}
