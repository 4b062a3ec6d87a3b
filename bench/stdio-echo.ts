/**
 * The minimal stdio MCP server of the benchmark: 2026-07-28, newline-delimited JSON, one tool `echo`, no SDK.
 *
 * Owns: `server/discover`, `tools/list`, `tools/call`; anything else is -32601. Ends with its input.
 */
import { createInterface } from 'node:readline';

interface RpcMessage {
  id?: string | number;
  method?: string;
  params?: { arguments?: { message?: string } };
}

const COMPLETE = { resultType: 'complete' };
const LIST = { ...COMPLETE, ttlMs: 60_000, cacheScope: 'public' };
const RESULTS: Record<string, object> = {
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo: { name: 'bench-stdio', version: '1.0.0' },
    ...LIST,
  },
  'tools/list': {
    tools: [
      {
        name: 'echo',
        description: 'Returns the message it was given.',
        inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
      },
    ],
    ...LIST,
  },
};

function answer({ id, method = '', params }: RpcMessage): object {
  if (method === 'tools/call') {
    const content = [{ type: 'text', text: params?.arguments?.message ?? '' }];
    return { jsonrpc: '2.0', id, result: { content, ...COMPLETE } };
  }
  const result = RESULTS[method];
  if (result) return { jsonrpc: '2.0', id, result };
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
}

createInterface(process.stdin).on('line', line => {
  const message: RpcMessage = JSON.parse(line);
  if (message.id !== undefined) process.stdout.write(`${JSON.stringify(answer(message))}\n`);
});
