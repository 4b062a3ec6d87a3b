/** Scripted clients of both eras that call the tool of an `AskingServer` and can answer server requests, one at a time. */
import { SseParser } from '../../../src/http/sse-events.ts';
import { answerTo, type Kind, type Plan } from './asking-script.ts';
import { AskingServer, registrationOf, serveAsking } from './asking-server.ts';
import {
  ADMIN,
  inSession,
  legacy,
  modern,
  registerConnected,
  type Portico,
  type RpcAnswer,
} from './portico.ts';

/** Capabilities of a client that answers every kind of server request. */
export const CLIENT_CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} };

const network: Record<string, AskingServer> = {};
const shared = new WeakMap<Portico, Map<Kind, Connected>>();

/** A connected asking server with its own name. */
export interface Connected {
  name: string;
  server: AskingServer;
  id: string;
}

/** Connects a new server; all earlier ones stay reachable. */
export async function connectAsking(portico: Portico, kind: Kind): Promise<Connected> {
  const name = `${kind}-${Object.keys(network).length}`;
  const server = new AskingServer(kind);
  network[name] = server;
  serveAsking(network);
  const { id } = await registerConnected(portico, name, registrationOf(name, kind));
  return { name, server, id };
}

/** The server of a kind that the tests of one Portico share. */
export async function sharedAsking(portico: Portico, kind: Kind): Promise<Connected> {
  const own = shared.get(portico) ?? new Map<Kind, Connected>();
  shared.set(portico, own);
  const known = own.get(kind);
  if (known) serveAsking(network);
  const connected = known ?? (await connectAsking(portico, kind));
  own.set(kind, connected);
  return connected;
}

/** A server request as a client sees it. */
export interface Question {
  /** Key of an input request, or id of a legacy request. */
  key: string;
  method: string;
  params: { message: string };
}

/** The outcome of a modern request: the call's result, or its server requests. */
export interface Round {
  status: number;
  answer: RpcAnswer;
  /** Messages before the answer. */
  before: object[];
  questions: Question[];
  state: string | undefined;
}

export interface ModernCall {
  token?: string;
  id?: unknown;
  capabilities?: object;
  /** The state of the earlier response, with the answers to it. */
  state?: unknown;
  responses?: object;
  signal?: AbortSignal;
  /** Replaces the call's mark, which is the token if the plan has progress. */
  progressToken?: unknown;
  path?: string;
  tool?: string;
}

/** A modern client's `tools/call`. */
export function modernRequest(server: string, plan: Plan, more: ModernCall = {}) {
  const {
    id = 1,
    capabilities = CLIENT_CAPABILITIES,
    state,
    responses,
    tool = `${server}.ask`,
  } = more;
  const { message, headers } = modern('tools/call', { name: tool, arguments: plan }, id);
  message.params._meta['io.modelcontextprotocol/clientCapabilities'] = capabilities;
  const { progressToken = plan.progress ? plan.mark : undefined } = more;
  if (progressToken !== undefined) Object.assign(message.params._meta, { progressToken });
  const extra = {
    ...(state === undefined ? {} : { requestState: state }),
    ...(responses === undefined ? {} : { inputResponses: responses }),
  };
  return { message: { ...message, params: { ...message.params, ...extra } }, headers };
}

/** Makes a modern call and reads all of its answer. */
export async function callModern(
  portico: Portico,
  server: string,
  plan: Plan,
  more: ModernCall = {},
): Promise<Round> {
  const { message, headers } = modernRequest(server, plan, more);
  const { token = ADMIN, signal, path } = more;
  const response = await portico.post(
    message,
    { token, headers, ...(signal ? { signal } : {}) },
    path,
  );
  const messages = parseAnswer(response, await response.text());
  const answer = messages.at(-1) as RpcAnswer;
  const asked = answer.result?.['inputRequests'] as
    Record<string, Omit<Question, 'key'>> | undefined;
  return {
    status: response.status,
    answer,
    before: messages.slice(0, -1),
    questions: Object.entries(asked ?? {}).map(([key, question]) => ({ key, ...question })),
    state: answer.result?.['requestState'] as string | undefined,
  };
}

function parseAnswer(response: Response, text: string): object[] {
  if (!response.headers.get('content-type')?.includes('event-stream')) return [JSON.parse(text)];
  return new SseParser(1e6).push(text).map(({ data }) => JSON.parse(data) as object);
}

/** Valid answers to all server requests of a response. */
export const answersOf = (questions: readonly Question[], who: string) =>
  Object.fromEntries(questions.map(({ key, params }) => [key, answerTo(params.message, who)]));

/** The contents of the server's result: the call's mark, and the answers that reached it. */
export function toldBy(answer: RpcAnswer): { mark: string; answers: unknown[] } {
  const text = answer.result?.content?.[0]?.text;
  if (text === undefined || answer.result?.isError) throw new Error(JSON.stringify(answer));
  return JSON.parse(text) as { mark: string; answers: unknown[] };
}

/** The stable reason of a failed call. */
export const reasonOf = (answer: RpcAnswer) => answer.result?._meta?.['portico/reason'];

/** Opens a legacy session of a client with these capabilities. @returns its id */
export async function openSession(
  portico: Portico,
  { token = ADMIN, capabilities = CLIENT_CAPABILITIES as object, version = '2025-11-25' } = {},
): Promise<string> {
  const clientInfo = { name: 'asked', version: '1' };
  const params = { protocolVersion: version, capabilities, clientInfo };
  const response = await portico.post(legacy('initialize', params), { token });
  return response.headers.get('mcp-session-id') ?? '';
}

/** A running legacy call: the server requests so far, and its end. */
export interface LegacyCall {
  questions: Question[];
  /** Resolves to the response, or to undefined if the stream ended without one. */
  outcome: Promise<RpcAnswer | undefined>;
  isOver(): boolean;
  drop(): void;
}

export interface LegacyTerms {
  token?: string;
  session?: string | undefined;
  id?: unknown;
  accept?: string;
}

/** Makes a legacy call; its stream is read in the background. */
export function callLegacy(
  portico: Portico,
  server: string,
  plan: Plan,
  { token = ADMIN, session, id = 1, accept }: LegacyTerms = {},
): LegacyCall {
  const controller = new AbortController();
  const headers = {
    ...(session === undefined ? {} : inSession(session)),
    ...(accept === undefined ? {} : { accept }),
  };
  const meta = plan.progress ? { _meta: { progressToken: plan.mark } } : {};
  const message = legacy('tools/call', { name: `${server}.ask`, arguments: plan, ...meta }, id);
  const questions: Question[] = [];
  let over = false;
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const read = async (): Promise<RpcAnswer | undefined> => {
    const response = await portico.post(message, { token, headers, signal: controller.signal });
    if (!response.headers.get('content-type')?.includes('event-stream')) return response.json();
    const parser = new SseParser(1e6);
    const decoder = new TextDecoder();
    reader = response.body?.getReader();
    for (;;) {
      const chunk = await reader?.read();
      if (!chunk || chunk.done) return undefined;
      for (const { data } of parser.push(decoder.decode(chunk.value, { stream: true }))) {
        const seen = JSON.parse(data) as RpcAnswer & {
          method?: string;
          params: Question['params'];
        };
        if (seen.method === undefined) return seen;
        if (seen.id !== undefined) {
          questions.push({ key: String(seen.id), method: seen.method, params: seen.params });
        }
      }
    }
  };
  const outcome = read()
    .catch(() => undefined)
    .finally(() => {
      over = true;
    });
  return {
    questions,
    outcome,
    isOver: () => over,
    drop() {
      controller.abort();
      reader?.cancel().catch(() => {});
    },
  };
}

/** Sends a legacy client's response to a server request. */
export async function giveAnswer(
  portico: Portico,
  session: string,
  key: string,
  result: object,
  token = ADMIN,
): Promise<number> {
  const message = { jsonrpc: '2.0', id: key, result };
  const response = await portico.post(message, { token, headers: inSession(session) });
  await response.text();
  return response.status;
}
