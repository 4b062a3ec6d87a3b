/** The way out to a server: the network, or the connector on whose machine it runs. */

/** Sends one request; a redirect is never followed. Rejects as `fetch` does, or with a PorticoError that says more. */
export type OutboundFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Requests to a server of a connector. @param server the name it has there */
export type ConnectorFetch = (connectorId: string, server: string) => OutboundFetch;

/** The network. */
export const direct: OutboundFetch = (url, init) => fetch(url, init);
