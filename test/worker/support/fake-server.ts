/**
 * An in-test MCP server of either era: it records its requests and gives correct answers, unless a test replaces how it answers calls. Used
 * through `fakeUpstreams`.
 */
import { fakeUpstreams } from './fake-upstreams.ts';

/** A received POST. */
export interface SeenPost {
  method: string;
  /** Value of `Mcp-Session-Id`. */
  session: string | null;
  headers: Headers;
  text: string;
  id: unknown;
  params: Record<string, unknown>;
  signal: AbortSignal;
}

export interface FakeServerOptions {
  /** `both`: modern if the request carries the envelope, else legacy. */
  era?: 'legacy' | 'modern' | 'both';
  tools?: unknown[];
  toolsFor?: FakeServer['toolsFor'];
  /** See `lookStatus` of the server. */
  lookStatus?: number;
  /** Legacy only: gives out a session id and requires it. */
  sessionful?: boolean;
  pageSize?: number;
  listChanged?: boolean;
  /** Capabilities besides tools. */
  capabilities?: object;
  /** Members of a list besides the items, replacing the usual ones. */
  listMembers?: object;
}

export const toolOf = (name: string, more: object = {}) => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

const json = (body: unknown, init?: ResponseInit) => Response.json(body, init);

/** A response with a result. */
export const resultOf = (post: SeenPost, result: unknown) =>
  json({ jsonrpc: '2.0', id: post.id, result });

/** An event stream of these messages, one chunk each. */
export function streamOf(...messages: unknown[]): Response {
  const texts = messages.map(message => `data: ${JSON.stringify(message)}\n\n`);
  return new Response(texts.join(''), { headers: { 'content-type': 'text/event-stream' } });
}

export class FakeServer {
  readonly posts: SeenPost[] = [];
  /** The capabilities that the client of each session declared. */
  readonly sessions = new Map<string, Record<string, unknown>>();
  readonly ended: string[] = [];
  tools: unknown[];
  /** Its instructions at the next negotiation. */
  instructions: string | undefined;
  /** Answers `tools/call`. */
  call: (post: SeenPost) => Response | Promise<Response> = post =>
    resultOf(post, {
      content: [{ type: 'text', text: JSON.stringify(post.params['arguments'] ?? {}) }],
    });
  /** Answers requests of a method after the handshake. */
  readonly answers = new Map<string, (post: SeenPost) => Response | Promise<Response>>();
  /** Answers a request in an unknown session. */
  forgotten: (post: SeenPost) => Response = () =>
    json(
      { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } },
      { status: 404 },
    );
  /** Additional tools for the capabilities of a legacy session's client; undefined in the modern era. */
  toolsFor: (capabilities: Record<string, unknown> | undefined) => unknown[];
  /** The status with which a server of both eras answers a GET without a session. */
  lookStatus: number;
  /** Answers `initialize`, while set. */
  opening: (() => Response) | undefined;
  /** The eras that it currently speaks. */
  era: 'legacy' | 'modern' | 'both';
  /** Replaces every answer, while set. */
  outage: ((request: Request) => Response | Promise<Response>) | undefined;
  readonly #options: Required<Omit<FakeServerOptions, 'tools' | 'toolsFor' | 'era' | 'lookStatus'>>;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor({
    tools = [toolOf('echo')],
    toolsFor = () => [],
    era = 'legacy',
    lookStatus = 400,
    ...options
  }: FakeServerOptions = {}) {
    this.tools = tools;
    this.toolsFor = toolsFor;
    this.era = era;
    this.lookStatus = lookStatus;
    this.#options = {
      sessionful: true,
      pageSize: 1_000,
      listChanged: false,
      capabilities: {},
      listMembers: {},
      ...options,
    };
  }

  /** Requests of one method, as received. */
  of(method: string): SeenPost[] {
    return this.posts.filter(post => post.method === method);
  }

  /** Whether a change listener is connected. */
  get isHeard(): boolean {
    return this.#stream !== undefined;
  }

  /** Sends the listener a change; must be called in the listener's own context. */
  tell(method: string): void {
    const text = `data: ${JSON.stringify({ jsonrpc: '2.0', method })}\n\n`;
    this.#stream?.enqueue(new TextEncoder().encode(text));
  }

  readonly handle = async (request: Request): Promise<Response> => {
    if (this.outage) return this.outage(request);
    const session = request.headers.get('mcp-session-id');
    if (request.method === 'GET') {
      const wantsSession = this.era === 'both' && this.#options.sessionful && session === null;
      if (wantsSession) return new Response('no session', { status: this.lookStatus });
      return this.era === 'modern' ? new Response(null, { status: 405 }) : this.#listen();
    }
    if (request.method === 'DELETE') {
      this.ended.push(session ?? '');
      this.sessions.delete(session ?? '');
      return new Response(null, { status: 200 });
    }
    const text = await request.text();
    const { method, id, params = {} } = JSON.parse(text) as SeenPost;
    const { headers, signal } = request;
    const post: SeenPost = { method, session, headers, text, id, params, signal };
    this.posts.push(post);
    const hasEnvelope = JSON.stringify(params).includes('io.modelcontextprotocol/protocolVersion');
    if (this.era === 'legacy' || (this.era === 'both' && !hasEnvelope)) return this.#legacy(post);
    return hasEnvelope ? this.#modern(post) : this.#refuse(post);
  };

  /** Refuses a request of an era that it does not speak. */
  #refuse({ id }: SeenPost): Response {
    const data = { supported: ['2026-07-28'] };
    const error = { code: -32022, message: 'Unsupported protocol version', data };
    return json({ jsonrpc: '2.0', id, error }, { status: 400 });
  }

  #modern(post: SeenPost): Response | Promise<Response> {
    const { listChanged, capabilities: more } = this.#options;
    const capabilities = { tools: { listChanged }, ...more };
    const base = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    if (post.method === 'server/discover') {
      const { instructions } = this;
      const own = { supportedVersions: ['2026-07-28'], capabilities, instructions };
      return resultOf(post, { ...base, ...own });
    }
    if (post.method === 'subscriptions/listen') return this.#listen();
    return this.#shared(post, base);
  }

  #legacy(post: SeenPost): Response | Promise<Response> {
    const { sessionful, listChanged, capabilities: more } = this.#options;
    if (post.method === 'initialize' && this.opening) return this.opening();
    if (post.method === 'initialize') {
      const headers = new Headers();
      if (sessionful) {
        const session = `upstream-${crypto.randomUUID()}`;
        this.sessions.set(session, (post.params['capabilities'] ?? {}) as Record<string, unknown>);
        headers.set('mcp-session-id', session);
      }
      const serverInfo = { name: 'fake', version: '1' };
      const capabilities = { tools: { listChanged }, ...more };
      const { instructions } = this;
      const result = { protocolVersion: '2025-11-25', capabilities, serverInfo, instructions };
      return json({ jsonrpc: '2.0', id: post.id, result }, { headers });
    }
    if (post.method === 'server/discover') {
      const error = { code: -32000, message: 'Bad Request: Server not initialized' };
      return json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
    }
    if (sessionful && !this.sessions.has(post.session ?? '')) return this.forgotten(post);
    if (post.id === undefined) return new Response(null, { status: 202 });
    return this.#shared(post, {});
  }

  #shared(post: SeenPost, base: object): Response | Promise<Response> {
    const answer = this.answers.get(post.method);
    if (answer) return answer(post);
    if (post.method === 'tools/list') {
      const from = Number(post.params['cursor'] ?? 0);
      const next = from + this.#options.pageSize;
      const all = [...this.tools, ...this.toolsFor(this.sessions.get(post.session ?? ''))];
      const nextCursor = next < all.length ? { nextCursor: String(next) } : {};
      const tools = all.slice(from, next);
      return resultOf(post, { ...base, ...this.#options.listMembers, tools, ...nextCursor });
    }
    if (post.method === 'tools/call') return this.call(post);
    if (post.method === 'logging/setLevel') return resultOf(post, {});
    const error = { code: -32601, message: 'Method not found' };
    return json({ jsonrpc: '2.0', id: post.id, error });
  }

  #listen(): Response {
    if (!this.#options.listChanged) return new Response(null, { status: 405 });
    const body = new ReadableStream<Uint8Array>({
      start: controller => {
        this.#stream = controller;
      },
      cancel: () => {
        this.#stream = undefined;
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
}

/** Puts fake servers on the network, each at `https://{name}.example.com/mcp`. Returns the requests seen. */
export function serve(servers: Readonly<Record<string, FakeServer>>): string[] {
  const upstreams = Object.entries(servers).map(
    ([name, server]) => [`https://${name}.example.com`, server.handle] as const,
  );
  return fakeUpstreams(Object.fromEntries(upstreams));
}
