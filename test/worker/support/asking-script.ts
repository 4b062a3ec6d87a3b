/**
 * What an `AskingServer` does in a call, what it saw of it, and the messages of both sides. A call's mark is unique, and everything that
 * belongs to the call repeats it.
 */
/** `http-standing` sends requests on the notification stream of a session, and none without one. */
export const KINDS = ['http-legacy', 'http-standing', 'sse-legacy', 'http-modern'] as const;
export type Kind = (typeof KINDS)[number];

/** The script of a call. */
export interface Plan {
  /** Unique; everything that belongs to the call repeats it. */
  mark: string;
  /** Rounds of server requests, one after the other. */
  rounds?: number;
  /** Server requests per round. */
  together?: number;
  /** Method of the server requests. */
  method?: string;
  /** Sends progress before the server requests, and after them. */
  progress?: boolean;
  /** Never answers after the last server request. */
  hang?: boolean;
}

/** The answer to a server request as the server got it: a result, or an error. */
export type Given = { result?: unknown; error?: { code: number } };

/** One call as the server saw it. */
export interface SeenCall {
  plan: Required<Plan>;
  id: unknown;
  progressToken: unknown;
  /** How often the call reached the server; a modern call reaches it once per round. */
  arrivals: number;
  answers: Given[];
  /** A `notifications/cancelled` arrived for it. */
  cancelled: boolean;
  /** The other side ended its request or its stream. */
  cut: boolean;
  done: boolean;
}

export interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown> & {
    arguments?: Plan;
    requestState?: unknown;
    inputResponses?: Record<string, unknown>;
    requestId?: unknown;
    _meta?: { progressToken?: unknown };
  };
  result?: unknown;
  error?: { code: number };
}

export type Send = (message: object) => void;

const encoder = new TextEncoder();

/** One event of a stream. */
export const event = (data: string, name = 'message') =>
  encoder.encode(`event: ${name}\ndata: ${data}\n\n`);
/** Two tools that do the same. */
export const tools = ['ask', 'other'].map(name => ({ name, inputSchema: { type: 'object' } }));
export const MODERN_BASE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** The params of the n-th server request of a call. */
export const questionParams = (mark: string, n: number) => ({
  mode: 'form',
  message: `${mark}#${n}`,
  requestedSchema: { type: 'object', properties: { echo: { type: 'string' } } },
});

/** A valid answer: it repeats the question and says who answered. */
export const answerTo = (message: string, who: string) => ({
  action: 'accept',
  content: { echo: message, who },
});

/** The result of a call: its mark, and every answer it got. */
export function toResult({ plan, answers }: SeenCall) {
  return { content: [{ type: 'text', text: JSON.stringify({ mark: plan.mark, answers }) }] };
}
