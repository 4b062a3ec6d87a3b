/** Legacy clients that read one list, and one result of a call, as an endpoint sends them. */
import { Client as NewClient } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { isObject, LEGACY_VERSIONS, type JsonObject } from '../../../src/shared/protocol.ts';

interface Message {
  id?: number | string;
  method?: string;
}

/** A transport whose other end answers each method with one result. */
class Script {
  onmessage?: (message: never) => void;
  onclose?: () => void;
  readonly #results: Readonly<Record<string, unknown>>;

  constructor(results: Readonly<Record<string, unknown>>) {
    this.#results = results;
  }

  start() {
    return Promise.resolve();
  }

  send({ id, method = '' }: Message) {
    if (id === undefined) return Promise.resolve();
    const result = this.#results[method];
    queueMicrotask(() => this.onmessage?.({ jsonrpc: '2.0', id, result } as never));
    return Promise.resolve();
  }

  close() {
    this.onclose?.();
    return Promise.resolve();
  }
}

/** What a client got from a list and from a call of the first tool. */
export interface Listed {
  tools: string[];
  call(name: string): Promise<unknown>;
}

export interface ListClient {
  name: string;
  list(tools: readonly JsonObject[], result?: unknown): Promise<Listed>;
}

const opening = (protocolVersion: string) => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: 'script', version: '1' },
});

function viaSdk(name: string, version: string, create: () => OldClient | NewClient): ListClient {
  return {
    name: `${name} at ${version}`,
    async list(tools, result) {
      const client = create();
      const results = {
        initialize: opening(version),
        'tools/list': { tools },
        'tools/call': result,
      };
      await client.connect(new Script(results) as never);
      const listed = await client.listTools();
      return {
        tools: listed.tools.map(tool => tool.name),
        call: called => client.callTool({ name: called, arguments: {} }),
      };
    },
  };
}

/** `Tool` and `CallToolResult` of each legacy revision's schema.json, from which other clients are generated. */
const named = z.record(z.string(), z.custom<JsonObject>(isObject));
const schema = z.looseObject({
  $schema: z.string().optional(),
  type: z.literal('object'),
  properties: named.optional(),
  required: z.array(z.string()).optional(),
});
const published = z.object({
  tools: z.array(
    z.looseObject({ name: z.string(), inputSchema: schema, outputSchema: schema.optional() }),
  ),
});
const called = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: z.custom<JsonObject>(isObject).optional(),
});

const byThePublishedSchema: ListClient = {
  name: 'the published schema',
  list(tools, result) {
    const names = published.parse({ tools }).tools.map(({ name }) => name);
    return Promise.resolve({ tools: names, call: () => Promise.resolve(called.parse(result)) });
  },
};

const identity = { name: 'test', version: '1' };

export const LIST_CLIENTS: readonly ListClient[] = [
  byThePublishedSchema,
  ...LEGACY_VERSIONS.flatMap(version => [
    viaSdk('SDK 1', version, () => new OldClient(identity)),
    viaSdk('SDK 2', version, () => new NewClient(identity)),
  ]),
];
