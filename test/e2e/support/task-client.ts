/**
 * The official client of the tasks extension (`@modelcontextprotocol/ext-tasks`) on an SDK 2 client, and the same messages by hand for what
 * no client sends. Owns headers and the parsing of responses.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createApplicationInputHandler,
  createTaskSessionFromClient,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client';
import { modernHeaders, MODERN_VERSION, post, type Answer, type Target } from './raw-client.ts';

export const TASKS = 'io.modelcontextprotocol/tasks';
const identity = { name: 'portico-e2e', version: '1.0.0' };
const capabilities = { elicitation: { form: {} }, extensions: { [TASKS]: {} } };
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': identity,
};
let lastId = 0;

/** Sends a modern request by hand. @param declared the client's capabilities; by default those for tasks */
export function send(
  target: Target,
  method: string,
  params: Record<string, unknown>,
  declared: object = capabilities,
): Promise<Answer> {
  const named = params['taskId'] ?? params['name'];
  const _meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': declared };
  const message = { jsonrpc: '2.0', id: ++lastId, method, params: { ...params, _meta } };
  const name = typeof named === 'string' ? named : undefined;
  return post(target, JSON.stringify(message), modernHeaders(method, name));
}

export interface TaskClient {
  session: TaskEnabledSession;
  capabilities: object;
  close(): Promise<void>;
}

/** Connects the official client; it answers every form. */
export async function connectTaskClient(target: Target): Promise<TaskClient> {
  const versionNegotiation = { mode: { pin: MODERN_VERSION } };
  const client = new Client(identity, { capabilities, versionNegotiation });
  const headers = { authorization: `Bearer ${target.token ?? ''}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers } }),
  );
  const session = createTaskSessionFromClient(client, {
    endpointId: target.url,
    v2RequestFraming: {
      protocolVersion: MODERN_VERSION,
      clientInfo: identity,
      clientCapabilities: capabilities,
    },
    async rawDispatch(request) {
      const { method, params } = request as { method: string; params: Record<string, unknown> };
      const { message } = await send(target, method, params);
      return message.error
        ? { kind: 'error', error: message.error as never }
        : { kind: 'result', result: message.result as never };
    },
    onInputRequest: createApplicationInputHandler({
      elicitation: () => ({
        action: 'accept',
        content: { confirm: true, first: true, second: true, name: 'Ada' },
      }),
      sampling: () => Promise.reject(new Error('not asked')),
      roots: () => ({ roots: [] }),
    }),
  });
  return {
    session,
    capabilities: client.getServerCapabilities() ?? {},
    async close() {
      await session.close();
      await client.close();
    },
  };
}
