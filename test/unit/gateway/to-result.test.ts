/** What changes in a result, by request, endpoint and caller; everything else passes unchanged. */
import type { Naming } from '../../../src/gateway/viewer.ts';
import { expect, it } from 'vitest';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import type { RelayedRequest } from '../../../src/gateway/gateway.ts';
import { resultChanges } from '../../../src/gateway/translate.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { createRecord } from './fakes.ts';

const server = createRecord('alpha');
const [item] = parseCatalog('h', '{"tools":[{"name":"echo","inputSchema":{}}],"capabilities":{}}')
  .tools.items;
const dot: Naming = { kind: 'qualified', style: 'dot' };
const own: Naming = { kind: 'own', serverId: server.id };
const LINK = { type: 'resource_link', uri: 'note://a', name: 'a' };
const RESULT = { content: [LINK], structuredContent: [1] };

/** The changed result; undefined if no result would change. */
function made(
  request: Partial<RelayedRequest>,
  naming: Naming,
  result: object = RESULT,
  isListed = true,
): unknown {
  const whole = {
    method: 'tools/call',
    reference: { kind: 'tool', name: 'echo' },
    params: new Map(),
    ...request,
  } as const;
  const resolved = { server, name: 'echo', ...(isListed && item ? { item } : {}) };
  const text = JSON.stringify(result);
  const change = resultChanges(whole, resolved, naming)?.(text, result as JsonObject);
  return change === undefined ? undefined : JSON.parse(change);
}
const QUALIFIED = { ...LINK, uri: 'alpha+note://a' };
const said = { type: 'text', text: '[1]' };

it('[MCP-7] nothing changes for a modern client on the endpoint of one server', () => {
  for (const source of ['modern', 'rest', undefined] as const) {
    expect(made(source ? { source } : {}, own)).toBeUndefined();
  }
});

it('[MCP-7] nothing changes in a completion', () => {
  for (const naming of [dot, own]) {
    for (const source of ['modern', 'legacy'] as const) {
      expect(made({ method: 'completion/complete', source }, naming)).toBeUndefined();
    }
  }
});

it('[MCP-8] links change on an endpoint of many servers', () => {
  expect(made({ source: 'modern' }, dot)).toEqual({ ...RESULT, content: [QUALIFIED] });
  const messages = [{ role: 'user', content: LINK }];
  expect(made({ method: 'prompts/get', source: 'modern' }, dot, { messages })).toEqual({
    messages: [{ role: 'user', content: QUALIFIED }],
  });
});

it('[MCP-5] the structured content of a tool changes for a legacy client', () => {
  const wrapped = { result: [1] };
  expect(made({ source: 'legacy' }, own)).toEqual({
    content: [LINK, said],
    structuredContent: wrapped,
  });
  expect(made({ source: 'legacy' }, dot)).toEqual({
    content: [QUALIFIED, said],
    structuredContent: wrapped,
  });
  // Only for a tool, and a known one.
  expect(made({ source: 'legacy', method: 'prompts/get' }, own)).toEqual(RESULT);
  expect(made({ source: 'legacy' }, own, RESULT, false)).toEqual(RESULT);
});

it('[MCP-5] blocks change that the revision of a legacy client lacks', () => {
  const link = { type: 'text', text: 'a: note://a' };
  const content = { content: [LINK] };
  for (const version of ['2024-11-05', '2025-03-26']) {
    expect(made({ source: 'legacy', version }, own, content)).toEqual({ content: [link] });
  }
  for (const version of ['2025-06-18', undefined]) {
    expect(made({ source: 'legacy', version }, own, content)).toEqual(content);
  }
  // The revision of a modern client does not matter.
  expect(made({ source: 'modern', version: '2024-11-05' }, dot, content)).toEqual({
    content: [QUALIFIED],
  });
});

it("[MCP-8] [ACC-3] a resource gets its server's name, and becomes private", () => {
  const read = { contents: [{ uri: 'note://a', text: 'x' }], cacheScope: 'public' };
  const kept = { ...read, cacheScope: 'private' };
  const method = 'resources/read';
  expect(made({ method, source: 'modern' }, own, read)).toEqual(kept);
  expect(made({ method, source: 'modern' }, dot, read)).toEqual({
    ...kept,
    contents: [{ uri: 'alpha+note://a', text: 'x' }],
  });
});
