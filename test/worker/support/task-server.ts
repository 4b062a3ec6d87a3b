/**
 * An in-test server with tasks, of either era: every call becomes a task under the id that the test sets, and each request about a task is
 * recorded and answered for any id. A modern one sends task notifications on a listening stream.
 */
import { FakeServer, resultOf, type SeenPost } from './fake-server.ts';
import { fakeUpstreams } from './fake-upstreams.ts';

type Era = 'legacy' | 'modern';

export const TASKS = 'io.modelcontextprotocol/tasks';
const LEGACY = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
const MODERN = { extensions: { [TASKS]: {} } };

export class TaskServer {
  readonly era: Era;
  readonly fake: FakeServer;
  /** Method, id and session of each request about a task. */
  readonly asked: [method: string, taskId: unknown, session: string | null][] = [];
  /** The id of the next task. */
  next = 'own';
  /** Ids that the server agrees to notify of; all by default. */
  agrees: (taskIds: string[]) => string[] = taskIds => taskIds;
  #told: ReadableStreamDefaultController<Uint8Array> | undefined;
  listeners = 0;

  constructor(era: Era, hasTasks = true) {
    this.era = era;
    const capabilities = era === 'modern' ? MODERN : LEGACY;
    this.fake = new FakeServer({ era, ...(hasTasks ? { capabilities } : {}) });
    this.fake.call = post => resultOf(post, this.#made());
  }

  #task(taskId: unknown): object {
    return { taskId, status: 'working', createdAt: '2026-01-01T00:00:00Z' };
  }

  #made(): object {
    const task = this.#task(this.next);
    return this.era === 'modern' ? { resultType: 'task', ...task } : { task };
  }

  readonly handle = async (request: Request): Promise<Response> => {
    const copy = request.clone();
    const text = request.method === 'POST' ? await copy.text() : '{}';
    const { method, id, params = {} } = JSON.parse(text) as SeenPost;
    if (method === 'subscriptions/listen') return this.#listen(params, request.signal);
    if (!method?.startsWith('tasks/')) return this.fake.handle(request);
    this.asked.push([method, params['taskId'], request.headers.get('mcp-session-id')]);
    const base = this.era === 'modern' ? { resultType: 'complete' } : {};
    const result = { ...base, ...this.#task(params['taskId']) };
    return Response.json({ jsonrpc: '2.0', id, result });
  };

  #listen(params: Record<string, unknown>, signal: AbortSignal): Response {
    const filter = (params['notifications'] ?? {}) as { taskIds?: string[] };
    if (!filter.taskIds) return new Response(null, { status: 405 });
    const notifications = { taskIds: this.agrees(filter.taskIds) };
    const body = new ReadableStream<Uint8Array>({
      start: controller => {
        this.#told = controller;
        this.listeners += 1;
        this.#send('notifications/subscriptions/acknowledged', { notifications });
        signal.addEventListener('abort', () => {
          this.listeners -= 1;
          controller.error(new DOMException('aborted', 'AbortError'));
        });
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  #send(method: string, params: object): void {
    const text = `data: ${JSON.stringify({ jsonrpc: '2.0', method, params })}\n\n`;
    this.#told?.enqueue(new TextEncoder().encode(text));
  }

  /** Sends a notification about a task. */
  tell(taskId: string, more: object = {}): void {
    this.#send('notifications/tasks', { ...this.#task(taskId), ...more });
  }

  /** Ends the listening stream. */
  hangUp(): void {
    this.#told?.close();
  }
}

/** Puts servers with tasks on the network, each at `https://{name}.example.com/mcp`. */
export function serveTasks(servers: Readonly<Record<string, TaskServer>>): void {
  const upstreams = Object.entries(servers).map(
    ([name, server]) => [`https://${name}.example.com`, server.handle] as const,
  );
  fakeUpstreams(Object.fromEntries(upstreams));
}
