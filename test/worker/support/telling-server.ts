/**
 * An in-test MCP server of either era that announces changes: of its lists, and of the resources that its client subscribed to. Records
 * subscriptions and open streams. Its `tell` acts in the context of the listener.
 */
import { runInDurableObject } from 'cloudflare:test';
import { waitFor } from './outbound.ts';
import { monitorOf } from './portico.ts';

interface Post {
  id?: unknown;
  method: string;
  params?: { uri?: string; notifications?: { resourceSubscriptions?: string[] } };
}

interface Stream {
  session: string | null;
  id: unknown;
  uris: string[];
  controller: ReadableStreamDefaultController<Uint8Array>;
  /** Chunks for the reader to find when it polls: the sender may be in another context. */
  waiting: Uint8Array[];
}

const textOf = (message: unknown) =>
  new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`);
const BASE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

export class TellingServer {
  readonly era: 'legacy' | 'modern';
  readonly #keepsSessions: boolean;
  readonly #tellsSessions: boolean;
  readonly lists: Record<'tools' | 'resources' | 'resourceTemplates' | 'prompts', unknown[]> = {
    tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
    resources: [
      { name: 'a', uri: 'note://a' },
      { name: 'b', uri: 'note://b' },
    ],
    resourceTemplates: [],
    prompts: [{ name: 'greet' }],
  };
  /** Every `resources/subscribe` and `resources/unsubscribe`, and each listener's resources, in order. */
  readonly asked: string[] = [];
  readonly streams: Stream[] = [];
  #session = 0;
  readonly sessions = new Set<string>();

  /** @param tellsSessions for `tellSession`; its streams then keep their readers in memory */
  constructor(era: 'legacy' | 'modern', keepsSessions = era === 'legacy', tellsSessions = false) {
    this.era = era;
    this.#keepsSessions = keepsSessions;
    this.#tellsSessions = tellsSessions;
  }

  /** Notifies one of its sessions, as only a subscriber in it is notified. Settles when that has been read. */
  async tellSession(session: string, method: string, params: object): Promise<void> {
    const hearing = this.streams.filter(stream => stream.session === session);
    for (const { waiting } of hearing) waiting.push(textOf({ jsonrpc: '2.0', method, params }));
    await waitFor(() => !hearing.some(({ waiting }) => waiting.length > 0));
  }

  /** Notifies every listener, each of which is a monitor, of a change. */
  async tell(serverId: string, method: string, params: object = {}): Promise<void> {
    await runInDurableObject(monitorOf(serverId), () => {
      for (const { id, controller } of this.streams) {
        const own = (params as { _meta?: object })._meta;
        const _meta = { ...own, 'io.modelcontextprotocol/subscriptionId': id };
        controller.enqueue(
          textOf({
            jsonrpc: '2.0',
            method,
            params: this.era === 'modern' ? { ...params, _meta } : params,
          }),
        );
      }
    });
  }

  /** Forgets its sessions and ends its streams, like a restarted server. */
  async restart(serverId: string): Promise<void> {
    this.sessions.clear();
    await runInDurableObject(monitorOf(serverId), () => {
      for (const { controller } of this.streams.splice(0)) controller.close();
    });
  }

  readonly handle = async (request: Request): Promise<Response> => {
    const session = request.headers.get('mcp-session-id');
    if (request.method === 'GET') return this.#stream(session, undefined, []);
    if (request.method === 'DELETE') {
      this.sessions.delete(session ?? '');
      return new Response(null);
    }
    const post = await request.json<Post>();
    const { id, method, params = {} } = post;
    const answer = (result: object, headers: Record<string, string> = {}) => {
      const base = this.era === 'modern' ? BASE : {};
      return Response.json({ jsonrpc: '2.0', id, result: { ...base, ...result } }, { headers });
    };
    const capabilities = {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
    };
    if (this.era === 'modern') {
      if (method === 'server/discover')
        return answer({ supportedVersions: ['2026-07-28'], capabilities });
      if (method === 'subscriptions/listen') {
        const uris = params.notifications?.resourceSubscriptions ?? [];
        this.asked.push(`listen ${uris.join(' ')}`.trim());
        return this.#stream(null, id, uris);
      }
    } else if (method === 'initialize') {
      const serverInfo = { name: 'telling', version: '1' };
      const result = { protocolVersion: '2025-11-25', capabilities, serverInfo };
      if (!this.#keepsSessions) return answer(result);
      this.#session += 1;
      this.sessions.add(`s${this.#session}`);
      return answer(result, { 'mcp-session-id': `s${this.#session}` });
    } else if (
      this.#keepsSessions &&
      method !== 'server/discover' &&
      !this.sessions.has(session ?? '')
    ) {
      return Response.json(
        { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } },
        { status: 404 },
      );
    }
    if (id === undefined) return new Response(null, { status: 202 });
    if (method === 'tools/list') return answer({ tools: this.lists.tools });
    if (method === 'resources/list') return answer({ resources: this.lists.resources });
    if (method === 'resources/templates/list')
      return answer({ resourceTemplates: this.lists.resourceTemplates });
    if (method === 'prompts/list') return answer({ prompts: this.lists.prompts });
    if (
      this.era === 'legacy' &&
      (method === 'resources/subscribe' || method === 'resources/unsubscribe')
    ) {
      this.asked.push(`${method === 'resources/subscribe' ? '+' : '-'} ${params.uri} ${session}`);
      return answer({});
    }
    return Response.json(
      { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } },
      { status: this.era === 'modern' ? 404 : 200 },
    );
  };

  #stream(session: string | null, id: unknown, uris: string[]): Response {
    let mine: Stream | undefined;
    const waiting: Uint8Array[] = [];
    let isOver = false;
    const body = new ReadableStream<Uint8Array>({
      start: controller => {
        mine = { session, id, uris, controller, waiting };
        this.streams.push(mine);
        if (id === undefined) return;
        const params = {
          _meta: { 'io.modelcontextprotocol/subscriptionId': id },
          notifications: { resourceSubscriptions: uris },
        };
        controller.enqueue(
          textOf({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params }),
        );
      },
      // A monitor's stream is written in its own context: a wait here would keep the monitor in memory.
      pull: async controller => {
        if (!this.#tellsSessions) return;
        await waitFor(() => waiting.length > 0 || isOver);
        for (const bytes of waiting.splice(0)) controller.enqueue(bytes);
      },
      cancel: () => {
        isOver = true;
        waiting.length = 0;
        const at = mine ? this.streams.indexOf(mine) : -1;
        if (at >= 0) this.streams.splice(at, 1);
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
}
