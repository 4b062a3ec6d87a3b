/** Byte for byte: arguments, results and errors in raw text, in every pair of client and upstream. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memberAt, membersOf, RAW_JSON } from '../../fixtures/raw-json.ts';
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { open, resultOf, textOf } from '../support/raw-client.ts';
import type { Answer, Era, RawClient } from '../support/raw-client.ts';

interface Kind {
  name: string;
  era: Era;
  fixture: 'rich-legacy' | 'rich-modern' | 'rich-sse';
  options: Record<string, string>;
}

const kinds: Kind[] = [
  { name: 'legacy-json', era: 'legacy', fixture: 'rich-legacy', options: { answer: 'json' } },
  { name: 'legacy-stream', era: 'legacy', fixture: 'rich-legacy', options: {} },
  { name: 'modern-json', era: 'modern', fixture: 'rich-modern', options: {} },
  { name: 'modern-stream', era: 'modern', fixture: 'rich-modern', options: { answer: 'sse' } },
  { name: 'http-sse', era: 'legacy', fixture: 'rich-sse', options: {} },
];
const tools = ['raw', 'ordered', 'unicode', 'embedded', 'structured', 'refused', 'link', 'image'];
const ofEra = new Set(['resultType', '_meta']);

const upstreams: Upstream[] = [];
const direct = {} as Record<Era, RawClient>;
const through = {} as Record<Era, RawClient>;
let gateway: Gateway;

beforeAll(async () => {
  const [started, ...fixtures] = await Promise.all([
    startGateway(),
    ...kinds.map(kind => startFixture(kind.fixture, kind.options)),
  ]);
  gateway = started;
  upstreams.push(...fixtures);
  await Promise.all(
    kinds.map(({ name, fixture }, index) => {
      const isSse = fixture === 'rich-sse';
      const url = `${fixtures[index]?.origin}${isSse ? '/sse' : '/mcp'}`;
      return gateway.register(name, url, isSse ? { transport_type: 'SSE' } : {});
    }),
  );
  direct.legacy = await open('legacy', { url: `${fixtures[0]?.origin}/mcp` });
  direct.modern = await open('modern', { url: `${fixtures[2]?.origin}/mcp` });
  for (const era of ['legacy', 'modern'] as const) {
    through[era] = await open(era, {
      url: `${gateway.origin}/mcp`,
      token: gateway.adminToken,
    });
  }
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.stop()));
});

const ownMembers = (text = '{}') => membersOf(text).filter(([name]) => !ofEra.has(name));

/** Returns `_meta` without the members that name the answering software. */
function ownMeta(answer: Answer): Record<string, unknown> {
  const entries = Object.entries(resultOf(answer)._meta ?? {});
  return Object.fromEntries(entries.filter(([key]) => !key.startsWith('io.modelcontextprotocol/')));
}

/** Returns the expected text of a passed-on result: its resources are qualified, everything else is unchanged. */
function passed({ resultText }: Answer, server: string): string | undefined {
  return resultText?.replaceAll('"uri":"', `"uri":"${server}+`);
}

describe.each(kinds)('upstream $name', kind => {
  describe.each(['legacy', 'modern'] as const)('%s client', era => {
    it.each(tools)('[MCP-5] [MCP-7] passes the result of %s through', async tool => {
      const expected = await direct[kind.era].call(tool);
      const answer = await through[era].call(`${kind.name}.${tool}`);
      expect(answer.status).toBe(200);
      expect(ownMembers(answer.resultText)).toEqual(ownMembers(passed(expected, kind.name)));
      expect(ownMeta(answer)).toEqual(ownMeta(expected));
    });

    it.each(era === kind.era ? tools : [])('[MCP-7] keeps the text of %s unchanged', async tool => {
      const expected = await direct[era].call(tool);
      const answer = await through[era].call(`${kind.name}.${tool}`);
      expect(answer.resultText).toBe(passed(expected, kind.name));
    });

    it('[MCP-7] [AG-US4-AC4] passes arguments through', async () => {
      const given = ` { "z":0.1000, "raw" : ${RAW_JSON},"a":[ 1 , 2.0],"name":"x","id":5 } `;
      const answer = await through[era].call(`${kind.name}.mirror`, given);
      expect(textOf(answer)).toBe(given.trim());
    });

    it('[MCP-7] keeps code, message and data of a JSON-RPC error', async () => {
      const expected = await direct[kind.era].call('broken');
      const answer = await through[era].call(`${kind.name}.broken`);
      const errorOf = ({ messages }: Answer) => memberAt(messages.at(-1) ?? '{}', 'error');
      expect(answer.message.error?.code).toBe(-31999);
      expect(errorOf(answer)).toBe(errorOf(expected));
    });

    it.each(['id "ü" 1', '', 0, -7, 2 ** 53 - 1])('[MCP-7] answers under the id %j', async id => {
      const answer = await through[era].call(`${kind.name}.echo`, { message: 'x' }, id);
      expect([answer.message.id, textOf(answer)]).toEqual([id, 'Echo: x']);
    });

    it('[MCP-4] relays progress under the token of the client, in order', async () => {
      const params = {
        name: `${kind.name}.steps`,
        arguments: {},
        _meta: { progressToken: 'tok-1' },
      };
      const answer = await through[era].request('tools/call', params);
      expect(textOf(answer)).toBe('done');
      const progress = answer.messages.slice(0, -1).map(text => JSON.parse(text) as object);
      const expected = [1, 2, 3].map(step => ({
        method: 'notifications/progress',
        params: { progressToken: 'tok-1', progress: step, total: 3 },
      }));
      const streams = kind.name !== 'legacy-json';
      expect(progress).toMatchObject(streams ? expected : []);
    });
  });
});
