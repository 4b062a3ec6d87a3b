/**
 * What the benchmark wants of a gateway: one file in `gateways/` gives one of these, and `gateways/all.ts` lists it. See
 * docs/guides/compared.md.
 */

/** An MCP server that a gateway is put in front of, in both ways that servers are reached. */
export interface Upstream {
  name: string;
  /** Its endpoint (Streamable HTTP). */
  url: string;
  /** The same server over stdio: a file for Node and its arguments. */
  command: readonly string[];
}

/** How a client reaches a gateway. */
export type Endpoint =
  | { transport: 'http' | 'sse'; url: string; headers?: Record<string, string> }
  /** The client starts a process of the gateway: a file for Node and its arguments. */
  | { transport: 'stdio'; command: readonly string[]; env: Record<string, string> };

/** A gateway in front of its upstreams. */
export interface Started {
  endpoint: Endpoint;
  /** The processes whose memory, with that of their children, is the gateway's; none where the client starts it. */
  pids: readonly number[];
  /** Other ways to ask for its list of tools, whose tokens are counted too. */
  otherLists?: readonly { name: string; endpoint: Endpoint }[];
  stop(): Promise<void>;
}

/** A gateway, set up as its own README says. */
export interface Gateway {
  name: string;
  version: string;
  /** It serves several upstreams at one endpoint. Others are started once for each. */
  joins: boolean;
  /** It reaches an upstream over HTTP; where not, it runs the upstream's command. */
  reaches: 'http' | 'stdio';
  /** How it is set up and what to know about its figures, in one or two sentences. */
  caveat: string;
  /** @param home an empty folder that is its own and is removed after the run */
  start(upstreams: readonly Upstream[], home: string): Promise<Started>;
}
