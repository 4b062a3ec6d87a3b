/** Requests that a connector receives for its programs, and the answers to them. */

export const SESSION_HEADER = 'mcp-session-id';

export interface HttpRequest {
  method: 'POST' | 'GET' | 'DELETE';
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Aborts when the client has hung up, even while the answer is read. */
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  /** Ends with the answer; a reader may stop early. */
  body: AsyncIterable<Uint8Array>;
  /** Why no program got the request, for people. */
  failure?: string;
}
