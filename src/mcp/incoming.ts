/** What a transport knows of a message before the body is read. A Streamable HTTP `Request` already has this shape. */
export interface Incoming {
  /** `Authorization`, `Mcp-Session-Id`, `MCP-Protocol-Version`, `Accept` and the mirrored headers. */
  headers: Pick<Headers, 'get'>;
  /** Aborts when the client disconnects or cancels the message. */
  signal: AbortSignal;
}
