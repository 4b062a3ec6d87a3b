/** How calls of the gateway's own tools end in the log: a failure of theirs is no success. */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { createPortico, modern, PATIENT } from '../support/portico.ts';

interface Line {
  tool?: string;
  outcome: string;
  code?: string;
}
const lines: Line[] = [];
const LINES = {
  async fetch(_url: string, { body }: { body: string }) {
    lines.push(
      ...body
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as Line),
    );
    return new Response();
  },
} as unknown as Fetcher;
const portico = createPortico({ LINES, PORTICO_LOG: 'all' });

it.each([
  ['ask', 'ask', { request: 'x' }, 'failed', 'model_missing'],
  ['ask', 'ask', {}, 'invalid', 'invalid_params'],
  ['chat', 'chat', { message: 'x' }, 'failed', 'model_missing'],
  ['search', 'search_tools', { limit: 0 }, 'invalid', 'invalid_params'],
  ['search', 'describe_tool', { name: 'no.tool' }, 'denied', 'tool_not_found'],
])(
  '[OPS-7] on an endpoint of %s, a failed %s with %j is %s',
  async (tools, name, given, ...ended) => {
    lines.length = 0;
    const { message, headers } = modern('tools/call', { name, arguments: given });
    const response = await portico.post(message, { headers }, `/mcp?tools=${tools}`);
    expect(await response.json()).toMatchObject({ result: { isError: true } });
    await vi.waitFor(() => expect(lines).toMatchObject([{ tool: name }]), PATIENT);
    expect([lines[0]?.outcome, lines[0]?.code]).toEqual(ended);
  },
);

const MODEL = {
  LINES,
  PORTICO_LOG: 'all',
  PORTICO_MODEL_API: 'workers-ai',
  PORTICO_MODEL: 'none',
  AI: { run: () => Promise.reject(new Error('5007: No such model')) },
};
const broken = createPortico(MODEL as never);

it.each(['mcp', 'rest', 'rest as a stream'])(
  '[OPS-7] [LLM-3] a chat over %s whose model fails has failed',
  async source => {
    lines.length = 0;
    const { message, headers } = modern('tools/call', {
      name: 'chat',
      arguments: { message: 'x' },
    });
    const response =
      source === 'mcp'
        ? await broken.post(message, { headers }, '/mcp?tools=chat')
        : await broken.api('POST', '/api/v1/chat', {
            message: 'x',
            stream: source === 'rest as a stream',
          });
    expect(await response.text()).toContain('model_failed');
    await vi.waitFor(() => expect(lines).toHaveLength(1), PATIENT);
    expect(lines).toMatchObject([{ outcome: 'failed', code: 'model_failed' }]);
  },
);

it.each([false, true])(
  '[OPS-7] [LLM-3] a chat whose end cannot be written has failed, also as a stream (%s)',
  async stream => {
    lines.length = 0;
    const DB = new Proxy(env.DB, {
      get(db, name: keyof D1Database) {
        if (name !== 'prepare') return (db[name] as () => unknown).bind(db);
        return (sql: string) => {
          if (sql.startsWith('UPDATE chats SET sealed')) throw new Error('no database');
          return db.prepare(sql);
        };
      },
    });
    const forgetful = createPortico({ ...MODEL, DB } as never);
    const response = await forgetful.api('POST', '/api/v1/chat', { message: 'x', stream });
    expect(await response.text()).toContain('internal');
    await vi.waitFor(() => expect(lines).toHaveLength(1), PATIENT);
    expect(lines).toMatchObject([{ outcome: 'failed', code: 'internal' }]);
  },
);
