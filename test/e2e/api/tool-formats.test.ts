/**
 * The demo servers' tools in each format and back (Show 2 of models): exported by the published rules, called in the format's own form,
 * executed at real servers over HTTP+SSE, answered in the format's own messages.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '../../../src/models/formats/dialect.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { definitionsOf, findDifferences, findUntold, schemaOf } from '../../unit/models/losses.ts';
import { checkAnthropicTools } from '../../unit/models/rules-anthropic.ts';
import { checkGeminiFunction } from '../../unit/models/rules-gemini.ts';
import { checkOpenaiFunction } from '../../unit/models/rules-openai.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';

const DEMOS = ['documents', 'tickets', 'policies'] as const;
const NAMES = [
  'documents__delete_document',
  'documents__fetch_document',
  'documents__search_documents',
  'policies__fetch_policy',
  'policies__search_policies',
  'tickets__close_ticket',
  'tickets__get_ticket',
  'tickets__search_tickets',
];

let gateway: Gateway;
const origins: string[] = [];
/** Each tool's own schema, by its name in a format. */
const own = new Map<string, JsonObject>();

beforeAll(async () => {
  gateway = await startGateway();
  for (const name of DEMOS) {
    const { origin } = await startFixture(`demo-${name}`);
    origins.push(origin);
    const { id } = await gateway.register(name, `${origin}/sse`);
    await gateway.waitFor(id, 'CONNECTED');
  }
  const { json } = await gateway.api('GET', '/api/v1/tools');
  for (const { tools } of json['servers'] as { tools: JsonObject[] }[]) {
    for (const tool of tools) {
      own.set(String(tool['name']).replace('.', '__'), tool['inputSchema'] as JsonObject);
    }
  }
});
afterAll(() => gateway.stop());

const exportTools = async (format: Format, strict: boolean) =>
  (await gateway.api('GET', `/api/v1/tools?format=${format}&strict=${strict}&losses=all`)).json as {
    tools: JsonObject[];
    names: Record<string, string>;
    losses: { tool: string; path: string; detail: string }[];
  };

/** Writes calls as a model of the format does. */
const toCalls = (format: Format, calls: readonly { name: string; given: object }[]): JsonObject[] =>
  calls.map(({ name, given }, index) => {
    const id = `call_${index}`;
    const written = { name, arguments: JSON.stringify(given) };
    if (format === 'openai-chat') return { id, type: 'function', function: written };
    if (format === 'openai-responses') return { type: 'function_call', call_id: id, ...written };
    if (format === 'anthropic') return { type: 'tool_use', id, name, input: given };
    return { functionCall: { name, args: given } };
  });

const callsOf = async (): Promise<number> => {
  const counts = await Promise.all(
    origins.map(
      async origin => (await (await fetch(`${origin}/control`)).json()) as Record<string, number>,
    ),
  );
  const called = counts.flatMap(each =>
    Object.entries(each).filter(([name]) => name.includes('_')),
  );
  return called.reduce((sum, [, count]) => sum + count, 0);
};

describe.each(FORMATS)('%s', format => {
  it.each([false, true])('[LLM-1] exports tools by published rules, strict %s', async strict => {
    const { tools, names, losses } = await exportTools(format, strict);
    const definitions = definitionsOf(format, tools);
    const breaches =
      format === 'anthropic'
        ? checkAnthropicTools(definitions)
        : definitions.flatMap(format === 'gemini' ? checkGeminiFunction : checkOpenaiFunction);
    expect(breaches).toEqual([]);
    expect(Object.values(names).toSorted()).toEqual(NAMES);
    for (const definition of definitions) {
      const name = names[String(definition['name'])] ?? '';
      const found = findDifferences(own.get(name), schemaOf(definition), new Map());
      const told = losses.filter(({ tool }) => tool === name);
      expect(findUntold(found, told)).toEqual([]);
      expect(told.length > 0).toBe(found.length > 0);
    }
  });

  it('[LLM-2] executes many calls at once, one of them failing, one unknown', async () => {
    const before = await callsOf();
    const strict = format.startsWith('openai');
    const calls = toCalls(format, [
      { name: 'documents__search_documents', given: { query: 'travel' } },
      {
        name: 'tickets__search_tickets',
        given: { query: 'printer', ...(strict ? { state: null } : {}) },
      },
      { name: 'policies__search_policies', given: { query: 'travel' } },
      { name: 'tickets__get_ticket', given: { number: 'INC-0' } },
      { name: 'tickets__drop_tables', given: {} },
    ]);
    const { status, json } = await gateway.api('POST', '/api/v1/tools/execute', {
      format,
      strict,
      calls,
    });
    expect(status).toBe(200);
    const results = json['results'] as {
      tool: string | null;
      is_error: boolean;
      result: JsonObject;
    }[];
    expect(results.map(each => each.is_error)).toEqual([false, false, false, true, true]);
    expect(
      results.slice(0, 3).map(({ result }) => Object.keys(result['structuredContent'] as object)),
    ).toEqual([['documents'], ['tickets'], ['policies']]);
    expect(await callsOf()).toBe(before + 4);
    const told = JSON.stringify(json['messages']);
    expect(told).toContain('There is no ticket INC-0');
    expect(told).toContain('There is no tool tickets__drop_tables');
    expect(told).not.toContain('portico-');
  });
});
