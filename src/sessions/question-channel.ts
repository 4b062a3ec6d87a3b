/**
 * Delivers the answer to a server request to the call that waits for it. The Worker that makes the call holds a WebSocket to the session's
 * object, named by a tag. The answer comes in another request, whose Worker passes it to the object, which wakes up only to pass it on.
 */
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import type { RequestId } from '../shared/protocol.ts';

/** A server request as it goes to the client, and the answer to come. */
export interface SentRequest {
  id: string;
  /** JSON text of the request. */
  text: string;
  answer: Promise<RawAnswer>;
  /** Forgets the request: no answer is awaited any more. */
  drop(): void;
}

export interface QuestionChannel {
  readonly isOpen: boolean;
  ask(method: string, params: string): SentRequest;
  close(): void;
}

/** Opens a WebSocket to an object. */
export interface SocketPort {
  fetch(url: string, init: { headers: Record<string, string> }): Promise<Response>;
}

const QUESTION_ID = /^portico-([0-9a-f-]{36})-(\d+)$/;
const GONE: RawAnswer = { error: '{"code":-32603,"message":"The client went away"}' };

const tagOf = (channelId: string) => `line:${channelId}`;

/** Opens a channel to a session's object. */
export async function openChannel(object: SocketPort, timeoutMs: number): Promise<QuestionChannel> {
  const channelId = crypto.randomUUID();
  const response = await object.fetch(`https://object/line?id=${channelId}`, {
    headers: { upgrade: 'websocket' },
  });
  const socket = response.webSocket;
  if (!socket) throw new Error('The session object opened no channel');
  const waiting = new Map<string, (answer: RawAnswer) => void>();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const settle = (question: string, answer: RawAnswer) => {
    waiting.get(question)?.(answer);
    waiting.delete(question);
    clearTimeout(timers.get(question) ?? null);
    timers.delete(question);
  };
  socket.accept();
  socket.addEventListener('message', ({ data }) => {
    const { question, answer } = JSON.parse(String(data)) as {
      question: string;
      answer: RawAnswer;
    };
    settle(question, answer);
  });
  socket.addEventListener('close', () => {
    for (const question of waiting.keys()) settle(question, GONE);
  });
  let count = 0;
  return {
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    ask(method, params) {
      count += 1;
      const question = `portico-${channelId}-${count}`;
      const answer = new Promise<RawAnswer>(resolve => {
        timers.set(
          question,
          setTimeout(() => settle(question, GONE), timeoutMs),
        );
        waiting.set(question, resolve);
      });
      const head = `{"jsonrpc":"2.0","id":"${question}"`;
      const text = `${head},"method":${JSON.stringify(method)},"params":${params}}`;
      return { id: question, text, answer, drop: () => settle(question, GONE) };
    },
    close() {
      // The call has ended; nothing here settles the requests that are still open.
      waiting.clear();
      for (const timer of timers.values()) clearTimeout(timer);
      socket.close();
    },
  };
}

/** The object's half: accepts the socket and sleeps. */
export function acceptChannel(state: DurableObjectState, channelId: string): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  state.acceptWebSocket(server, [tagOf(channelId)]);
  return new Response(null, { status: 101, webSocket: client });
}

/**
 * The object's half: passes an answer on.
 * @returns false where the id names no running call; a request that the call did not make is dropped by its Worker
 */
export function passAnswer(state: DurableObjectState, id: RequestId, answer: RawAnswer): boolean {
  const channelId = QUESTION_ID.exec(String(id))?.[1];
  if (channelId === undefined) return false;
  const sockets = state
    .getWebSockets(tagOf(channelId))
    .filter(({ readyState }) => readyState === WebSocket.OPEN);
  for (const socket of sockets) socket.send(JSON.stringify({ question: id, answer }));
  return sockets.length > 0;
}
