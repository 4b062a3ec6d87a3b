/** The way out to a server: the network, or the connector on whose machine it runs. */

/** Sends one request; a redirect is never followed. Rejects as `fetch` does, or with a PorticoError that says more. */
export type Outlet = (url: string, init: RequestInit) => Promise<Response>;

/** Requests to a server of a connector. @param server the name it has there */
export type ConnectorOutlet = (connectorId: string, server: string) => Outlet;

/** The network. */
export const direct: Outlet = (url, init) => fetch(url, init);
