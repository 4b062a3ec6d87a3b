/**
 * The filesystem server of the report on an integration system, written by hand in the test's own process: POST with JSON-RPC of
 * 2024-11-05, responses as event streams, `Mcp-Session-Id`, and a key. Records what it receives. `streams` are tools whose response is that
 * text to the letter.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { readBody } from '../../fixtures/serve.ts';
import { desktopTools, endGroup, toToolError, type DesktopSession } from './desktop-tools.ts';

export interface DesktopRequest {
  http: string;
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
  message: {
    id?: number;
    method?: string;
    params?: { name?: string; arguments?: object; _meta?: { progressToken?: string | number } };
  };
}

export interface Desktop {
  origin: string;
  came: readonly DesktopRequest[];
  /** Sessions that were started and not ended. */
  sessions: ReadonlyMap<string, DesktopSession>;
  /** Forgets every session, like a restarted server. */
  forget(): void;
  /** Ends every connection and stops listening. */
  stop(): Promise<void>;
}

export interface DesktopOptions {
  folder: string;
  /** The key that every request must have. */
  key: string;
  /** Responses to the letter, by the names of the tools; null never ends. */
  streams?: Readonly<Record<string, string | null>>;
  /** More tools, or others, as listed. */
  listed?: readonly object[];
  /** What a tool named `flowing` sends before its result, and how long it waits after each piece. */
  flow?: { pieces: readonly string[]; everyMs: number };
}

const string = { type: 'string' };
const READ = /^(read|list|get|search)_/u;

function toListed(name: string): object {
  if (name === 'read_file') {
    return {
      name,
      description: 'Read the contents of a text file from the server',
      inputSchema: {
        type: 'object',
        properties: { path: { type: 'string', description: 'The file path to read' } },
        required: ['path'],
      },
      annotations: { readOnlyHint: true },
    };
  }
  const properties = name === 'write_file' ? { path: string, content: string } : {};
  const annotations = { readOnlyHint: READ.test(name) };
  return { name, description: name, inputSchema: { type: 'object', properties }, annotations };
}

/** Formats a message as one event with several lines of data. */
const toEvent = (message: object) =>
  `event: message\nid: 1\n${JSON.stringify(message, null, 1)
    .split('\n')
    .map(line => `data: ${line}\n`)
    .join('')}\n`;

/** Inserts a request's id and progress token into a text. */
const withIds = (text: string, { id, params }: DesktopRequest['message']) =>
  text
    .replaceAll('$ID', String(id))
    .replaceAll('$TOKEN', JSON.stringify(params?._meta?.progressToken ?? null));

export async function startDesktop({
  folder,
  key,
  streams = {},
  listed = [],
  flow,
}: DesktopOptions): Promise<Desktop> {
  const came: DesktopRequest[] = [];
  const sessions = new Map<string, DesktopSession>();
  const tools = desktopTools(folder, { base: folder });
  const open = new Set<ServerResponse>();
  let begun = 0;

  const endProcesses = (session: DesktopSession) => {
    for (const { child } of session.processes.values()) endGroup(child);
    sessions.delete(session.id);
  };
  const resultOf = async (name: string, given: object, session: DesktopSession) => {
    const tool = tools[name];
    if (!tool) return { error: { code: -32601, message: 'Tool not found' } };
    try {
      const said = await tool(given as never, session);
      const text = typeof said === 'string' ? said : JSON.stringify(said);
      return { result: { content: [{ type: 'text', text }] } };
    } catch (thrown) {
      const { code, message } = toToolError(thrown);
      return { error: { code, message } };
    }
  };

  async function answer({ message }: DesktopRequest, session: DesktopSession, to: ServerResponse) {
    const { id, method, params = {} } = message;
    const give = (members: object) => to.end(toEvent({ jsonrpc: '2.0', id, ...members }));
    to.writeHead(200, {
      'content-type': 'text/event-stream',
      'mcp-session-id': session.id,
      'set-cookie': `session=${session.id}; Path=/`,
    });
    if (method === 'initialize') {
      const serverInfo = { name: 'filesystem-mcp-server', version: '1.0.4' };
      const capabilities = { tools: {} };
      return give({ result: { protocolVersion: '2024-11-05', capabilities, serverInfo } });
    }
    if (method === 'tools/list') {
      const names = [...Object.keys(tools), ...Object.keys(streams), ...(flow ? ['flowing'] : [])];
      return give({ result: { tools: [...names.map(toListed), ...listed] } });
    }
    if (method === 'ping') return give({ result: {} });
    if (method !== 'tools/call') return give({ error: { code: -32601, message: 'No method' } });
    const { name = '', arguments: given = {} } = params;
    const text = streams[name];
    if (flow && name === 'flowing') {
      for (const piece of flow.pieces) {
        to.write(withIds(piece, message));
        await delay(flow.everyMs);
      }
      return give({ result: { content: [{ type: 'text', text: 'flowed' }] } });
    }
    if (text === null) return void open.add(to.on('close', () => open.delete(to)));
    if (text !== undefined) return to.end(withIds(text, message));
    return give(await resultOf(name, given, session));
  }

  function take(request: DesktopRequest, response: ServerResponse): void {
    const { http, headers, message } = request;
    const refuse = (status: number) => void response.writeHead(status).end();
    if (headers.authorization !== `Bearer ${key}` || headers['mcp-auth-token'] !== key) {
      return refuse(401);
    }
    if (http === 'POST' && message.method === 'initialize') {
      begun += 1;
      const id = `ABC123-${begun}`;
      const session = { id, processes: new Map(), searches: new Map() };
      sessions.set(id, session);
      return void answer(request, session, response);
    }
    const session = sessions.get(String(headers['mcp-session-id']));
    if (!session) return refuse(404);
    if (http === 'DELETE') return (endProcesses(session), refuse(204));
    // An event id names the request whose stream was lost.
    const [, lost] = /^of-(\d+)$/u.exec(String(headers['last-event-id'])) ?? [];
    if (http === 'GET' && lost !== undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const result = { content: [{ type: 'text', text: 'went on' }] };
      return void response.end(toEvent({ jsonrpc: '2.0', id: Number(lost), result }));
    }
    if (http !== 'POST') return refuse(405);
    if (message.id === undefined) return refuse(202);
    void answer(request, session, response);
  }

  const server = createServer((incoming, response) => {
    void (async () => {
      const text = await readBody(incoming);
      const { method: http = '', url = '', headers } = incoming;
      const request = { http, url, headers, text, message: text === '' ? {} : JSON.parse(text) };
      came.push(request);
      take(request, response);
    })();
  }).listen(0, '127.0.0.1');
  server.keepAliveTimeout = 600_000;
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    came,
    sessions,
    forget: () => [...sessions.values()].forEach(endProcesses),
    async stop() {
      for (const session of sessions.values()) endProcesses(session);
      for (const response of open) response.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
