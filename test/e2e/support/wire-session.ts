/** A legacy session by hand whose responses are read as they come, so that a test can answer a question during a call. */
import { until } from '../../fixtures/start-fixture.ts';
import { eventsOf } from './raw-client.ts';

type Json = Record<string, unknown>;

/** A running response: what was received so far, and how it ended. */
export interface Wire {
  status: number;
  type: string;
  /** Every message so far, parsed. */
  messages(): Json[];
  /** The body so far. */
  text(): string;
  /** Waits for a message that has come or will come. */
  heard(what: string, test: (message: Json) => boolean): Promise<Json>;
  /** Resolves at the end of the body, however it ends. */
  over: Promise<void>;
  hangUp(): void;
}

export interface WireSession {
  id: string;
  /** Sends any message in the session. */
  send(message: Json): Promise<Wire>;
  /** Calls a tool. */
  call(name: string, given?: Json, id?: number | string): Promise<Wire>;
  /** Opens the notification stream. */
  listen(): Promise<Wire>;
  end(): Promise<number>;
}

async function exchange(url: string, init: RequestInit): Promise<Wire> {
  const controller = new AbortController();
  const response = await fetch(url, { ...init, signal: controller.signal });
  const type = response.headers.get('content-type') ?? '';
  let text = '';
  const read = async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
    }
  };
  const over = read().catch(() => undefined);
  const messages = () => {
    if (type.includes('event-stream')) {
      const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
      return eventsOf(whole).map(data => JSON.parse(data) as Json);
    }
    return text === '' ? [] : [JSON.parse(text) as Json];
  };
  return {
    status: response.status,
    type,
    messages,
    text: () => text,
    heard: (what, test) => until(what, 60_000, async () => messages().find(test)),
    over,
    hangUp: () => controller.abort(),
  };
}

/** Opens a session of a client with these capabilities. */
export async function openWireSession(url: string, capabilities: Json = {}): Promise<WireSession> {
  const common = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const post = (message: Json, headers: Record<string, string>) =>
    exchange(url, {
      method: 'POST',
      headers: { ...common, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const clientInfo = { name: 'wire', version: '1.0.0' };
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
  const opening = await fetch(url, {
    method: 'POST',
    headers: common,
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  const id = opening.headers.get('mcp-session-id');
  if (!id) throw new Error(`${opening.status} ${await opening.text()}`);
  await opening.text();
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  await post({ method: 'notifications/initialized' }, headers);
  let lastId = 0;
  return {
    id,
    send: message => post(message, headers),
    call: (name, given = {}, callId = ++lastId) =>
      post({ id: callId, method: 'tools/call', params: { name, arguments: given } }, headers),
    listen: () => exchange(url, { headers: { ...headers, accept: 'text/event-stream' } }),
    end: async () => (await fetch(url, { method: 'DELETE', headers })).status,
  };
}
