/** What is known of a message before it is read: as its transport hands it over. A request of Streamable HTTP is one by itself. */
export interface Incoming {
  /** `Authorization`, `Mcp-Session-Id`, `MCP-Protocol-Version`, `Accept` and the mirrored ones. */
  headers: Pick<Headers, 'get'>;
  /** Aborts when the client goes away, or takes the message back. */
  signal: AbortSignal;
}
