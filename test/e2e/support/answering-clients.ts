/**
 * Third-party clients that declare every capability for questions and answer every question: the 1.x SDK over both transports, the 2.x SDK
 * in each of its modes. Records everything that they receive beside responses.
 */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { MODERN_VERSION } from './raw-client.ts';

export interface AnsweringClient {
  era: 'legacy' | 'modern';
  /** Returns the names of all tools. */
  tools(): Promise<string[]>;
  /** Returns the result as JSON text. @param onProgress called with the progress of each notification */
  call(
    name: string,
    given?: Record<string, unknown>,
    onProgress?: (at: number) => void,
  ): Promise<string>;
  prompt(name: string, given?: Record<string, string>): Promise<string>;
  complete(prompt: string, argument: string, value: string): Promise<readonly string[]>;
  resources(): Promise<string[]>;
  templates(): Promise<string[]>;
  read(uri: string): Promise<string>;
  /** Subscribes to a resource and unsubscribes. */
  subscribe(uri: string): Promise<void>;
  close(): Promise<void>;
}

const identity = { name: 'answering', version: '1.0.0' };
const capabilities = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };

export const ROOTS = [{ uri: 'file:///projects/here', name: 'here' }];
const sampled = {
  model: 'm',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'sampled' },
};
const filledIn = { action: 'accept' as const, content: { name: 'Ada' } };

interface Target {
  origin: string;
  token: string;
}

const requestInit = ({ token }: Target) => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

const uriOf = ({ uri }: { uri: string }) => uri;

async function answer1(transport: Transport): Promise<AnsweringClient> {
  const client = new Client1(identity, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => filledIn);
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: ROOTS }));
  await client.connect(transport);
  return {
    era: 'legacy',
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given = {}, onProgress) =>
      JSON.stringify(
        await client.callTool(
          { name, arguments: given },
          undefined,
          onProgress && { onprogress: ({ progress }) => onProgress(progress) },
        ),
      ),
    prompt: async (name, given) =>
      JSON.stringify(await client.getPrompt({ name, ...(given && { arguments: given }) })),
    complete: async (name, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name };
      return (await client.complete({ ref, argument: { name: argument, value } })).completion
        .values;
    },
    resources: async () => (await client.listResources()).resources.map(uriOf),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(
        ({ uriTemplate }) => uriTemplate,
      ),
    read: async uri => JSON.stringify(await client.readResource({ uri })),
    subscribe: async uri => {
      await client.subscribeResource({ uri });
      await client.unsubscribeResource({ uri });
    },
    close: () => client.close(),
  };
}

async function answer2(
  target: Target,
  mode: 'auto' | 'legacy' | 'pinned',
): Promise<AnsweringClient> {
  const client = new Client2(identity, {
    capabilities,
    versionNegotiation: { mode: mode === 'pinned' ? { pin: MODERN_VERSION } : mode },
  });
  client.setRequestHandler('elicitation/create', () => filledIn);
  client.setRequestHandler('sampling/createMessage', () => sampled);
  client.setRequestHandler('roots/list', () => ({ roots: ROOTS }));
  await client.connect(new Http2(new URL(`${target.origin}/mcp`), requestInit(target)));
  const era = mode === 'legacy' ? 'legacy' : 'modern';
  return {
    era,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, given = {}, onProgress) =>
      JSON.stringify(
        await client.callTool(
          { name, arguments: given },
          onProgress && { onprogress: ({ progress }) => onProgress(progress) },
        ),
      ),
    prompt: async (name, given) =>
      JSON.stringify(await client.getPrompt({ name, ...(given && { arguments: given }) })),
    complete: async (name, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name };
      return (await client.complete({ ref, argument: { name: argument, value } })).completion
        .values;
    },
    resources: async () => (await client.listResources()).resources.map(uriOf),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(
        ({ uriTemplate }) => uriTemplate,
      ),
    read: async uri => JSON.stringify(await client.readResource({ uri })),
    subscribe: async uri => {
      if (era === 'modern') {
        const { honoredFilter, close } = await client.listen({ resourceSubscriptions: [uri] });
        await close();
        if (!honoredFilter.resourceSubscriptions?.includes(uri)) throw new Error('not honoured');
        return;
      }
      await client.subscribeResource({ uri });
      await client.unsubscribeResource({ uri });
    },
    close: () => client.close(),
  };
}

/** Each client of the gateway's `/mcp`, or `/sse`, by its name in test titles. */
export const answeringClients = {
  'SDK 1.x': target =>
    answer1(new Http1(new URL(`${target.origin}/mcp`), requestInit(target)) as Transport),
  'SDK 1.x over HTTP+SSE': target =>
    answer1(
      new SSEClientTransport(new URL(`${target.origin}/sse`), requestInit(target)) as Transport,
    ),
  'SDK 2.x legacy': target => answer2(target, 'legacy'),
  'SDK 2.x auto': target => answer2(target, 'auto'),
  'SDK 2.x pinned to 2026-07-28': target => answer2(target, 'pinned'),
} satisfies Record<string, (target: Target) => Promise<AnsweringClient>>;

export type AnsweringName = keyof typeof answeringClients;
export const answeringNames = Object.keys(answeringClients) as AnsweringName[];
