/**
 * What the benchmark needs from a gateway: each file in `gateways/` implements this, and `gateways/all.ts` lists them. See
 * docs/guides/compared.md.
 */

/** An MCP server behind a gateway, reachable in both ways. */
export interface Upstream {
  name: string;
  /** Its Streamable HTTP endpoint. */
  url: string;
  /** The same server over stdio: a file for Node, and its arguments. */
  command: readonly string[];
}

/** How a client reaches a gateway. */
export type Endpoint =
  | { transport: 'http' | 'sse'; url: string; headers?: Record<string, string> }
  /** The client starts a process of the gateway: a file for Node, and its arguments. */
  | { transport: 'stdio'; command: readonly string[]; env: Record<string, string> };

/** A gateway in front of its upstreams. */
export interface Started {
  endpoint: Endpoint;
  /** The processes whose memory, with that of their children, counts as the gateway's; none where the client starts it. */
  pids: readonly number[];
  /** Other endpoints for its list of tools, whose tokens are counted too. */
  otherLists?: readonly { name: string; endpoint: Endpoint }[];
  stop(): Promise<void>;
}

/** A gateway, set up as its README says. */
export interface Gateway {
  name: string;
  version: string;
  /** Whether it serves several upstreams at one endpoint; otherwise it is started once for each. */
  joins: boolean;
  /** Whether it reaches an upstream over HTTP or runs the upstream's command. */
  reaches: 'http' | 'stdio';
  /** How it is set up, and what to know about its figures, in one or two sentences. */
  caveat: string;
  /** @param home an empty folder of its own, which is removed after the run */
  start(upstreams: readonly Upstream[], home: string): Promise<Started>;
}
