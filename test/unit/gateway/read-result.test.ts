/** Results of resources/read: the endpoint's URIs, and no cache beyond the client may share them. */
import { expect, it } from 'vitest';
import { toReadResult } from '../../../src/gateway/results/read-result.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';

const made = (read: string, qualifier?: string) =>
  toReadResult(read, JSON.parse(read) as JsonObject, qualifier);

it('[MCP-4] a public result becomes private, and nothing else of it changes', () => {
  const read =
    '{"contents":[{"uri":"note://1","text":"1.0 public"}],"ttlMs":60000,"cacheScope":"public","x":1.50}';
  expect(made(read)).toBe(read.replace('"public"', '"private"'));
  // Also if the value is escaped.
  expect(made('{"cacheScope":"\\u0070ublic"}')).toBe('{"cacheScope":"private"}');
});

it('[MCP-7] a result without cache members is unchanged', () => {
  const read = '{ "contents": [ {"uri":"note://public","text":"cacheScope public"} ] }';
  expect(made(read)).toBe(read);
});

it('[MCP-3] [MCP-4] the contents carry the URIs of an endpoint of many servers', () => {
  const read = '{"contents":[{"uri":"note://1","text":"a"},7],"cacheScope":"public"}';
  expect(made(read, 'alpha')).toBe(
    '{"contents":[{"uri":"alpha+note://1","text":"a"},7],"cacheScope":"private"}',
  );
});

it('[MCP-7] a result without such contents or URIs is unchanged', () => {
  for (const read of [
    '{ "x": 1 }',
    '{ "contents": {"uri":"note://1"} }',
    '{"contents":[{"text":"a"},{"uri":7},{"uri":null}]}',
  ]) {
    expect(made(read, 'alpha')).toBe(read);
  }
});
