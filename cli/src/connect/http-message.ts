/** Requests that a connector is given for its programs, and answers to them. */

/** The header that names a session. */
export const SESSION_HEADER = 'mcp-session-id';

export interface HttpRequest {
  method: 'POST' | 'GET' | 'DELETE';
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Aborts when the client has hung up, also while the answer is read. */
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  /** Ends with the answer; the reader may stop early. */
  body: AsyncIterable<Uint8Array>;
  /** Why there is nobody to answer, for people: the request reached no program. */
  failure?: string;
}
