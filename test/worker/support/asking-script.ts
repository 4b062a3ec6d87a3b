/**
 * What an `AskingServer` is told to do in a call, what it saw of it, and the messages of both. A call's mark is unique, and all
 * that belongs to the call repeats it.
 */
/** `http-standing` asks on the standing stream of a session, and not at all where there is none. */
export const KINDS = ['http-legacy', 'http-standing', 'sse-legacy', 'http-modern'] as const;
export type Kind = (typeof KINDS)[number];

/** What a call is to do. */
export interface Plan {
  /** Unique; everything that belongs to the call repeats it. */
  mark: string;
  /** Rounds of questions, one after the other. */
  rounds?: number;
  /** Questions of one round. */
  together?: number;
  /** What is asked. */
  method?: string;
  /** Tells of progress before the questions, and after them. */
  progress?: boolean;
  /** Never answers, after all questions. */
  hang?: boolean;
}

/** A question's answer as the server got it: a result, or an error. */
export type Given = { result?: unknown; error?: { code: number } };

/** One call as the server saw it. */
export interface SeenCall {
  plan: Required<Plan>;
  id: unknown;
  progressToken: unknown;
  /** How often the call reached the server; a modern call reaches it once for each round. */
  arrivals: number;
  answers: Given[];
  /** `notifications/cancelled` came for it. */
  cancelled: boolean;
  /** Its request or its stream was ended by the other side. */
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

/** The params of a question of a call. */
export const questionParams = (mark: string, n: number) => ({
  mode: 'form',
  message: `${mark}#${n}`,
  requestedSchema: { type: 'object', properties: { echo: { type: 'string' } } },
});

/** An answer by the book: it repeats the question and says who answered. */
export const answerTo = (message: string, who: string) => ({
  action: 'accept',
  content: { echo: message, who },
});

/** The result of a call: its mark, and every answer it got. */
export function toResult({ plan, answers }: SeenCall) {
  return { content: [{ type: 'text', text: JSON.stringify({ mark: plan.mark, answers }) }] };
}
