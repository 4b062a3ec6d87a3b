/** Links in results on an endpoint of many servers: each gets the name of the server that returned it, and nothing else changes. */
import { describe, expect, it } from 'vitest';
import { withQualifiedLinks } from '../../../src/gateway/translate.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';

const change = (text: string) => withQualifiedLinks(text, JSON.parse(text) as JsonObject, 'notes');

const LINK = '{ "type":"resource_link", "n":1e400, "uri" : "note://1" ,"name":"a" }';
const EMBEDDED = '{"resource":{"text":"uri","uri":"note:\\/\\/2"},"type":"resource"}';
const TEXT =
  '{"type":"text","text":"{\\"type\\":\\"resource_link\\",\\"uri\\":\\"note://1\\"}","uri":"note://1"}';
const QUALIFIED: Record<string, string> = {
  [LINK]: LINK.replace('note:', 'notes+note:'),
  [EMBEDDED]: EMBEDDED.replace('"note:\\/\\/2"', '"notes+note://2"'),
};

describe('withQualifiedLinks', () => {
  it.each([
    ['a result', (block: string) => `{ "content" : [ ${TEXT} , ${block} ] , "x":1.0 }`],
    ['a prompt', (block: string) => `{"messages":[{"role":"user","content": ${block} }]}`],
    ['a task', (block: string) => `{"status":"completed","result":{"content":[${block}]}}`],
  ])('[MCP-3] [MCP-7] qualifies the links of %s and keeps every other byte', (_, inside) => {
    for (const [block, qualified] of Object.entries(QUALIFIED)) {
      expect(change(inside(block))).toBe(inside(qualified));
    }
  });

  it('[MCP-7] keeps what looks like a resource in another block, and malformed messages', () => {
    const text = '{"content":[{"type":"text","text":"","resource":{"uri":"note://1"}}]}';
    expect(change(text)).toBe(text);
    const odd = `{"messages":[null,"x",[],{"content":${LINK}}]}`;
    expect(change(odd)).toBe(odd.replace(LINK, QUALIFIED[LINK] ?? ''));
  });

  it('[MCP-3] qualifies links with escaped and duplicate keys', () => {
    expect(change('{"content":[{"type":"resource\\u005flink","\\u0075ri":"a:b"}]}')).toContain(
      '"notes+a:b"',
    );
    expect(change('{"content":[{"type":"resource_link","uri":"a:1","uri":"a:2"}]}')).toBe(
      '{"content":[{"type":"resource_link","uri":"notes+a:1","uri":"notes+a:2"}]}',
    );
  });

  it.each([
    '{"content":[]}',
    `{ "content":[${TEXT}]}`,
    '{"content":[{"type":"resource_link","uri":7},null,"a",[]]}',
    '{"content":{"type":"resource_link","uri":"a:b"}}',
    '{"content":[{"type":"resource","resource":"a:b"}],"messages":7}',
    '{"structuredContent":{"type":"resource_link","uri":"a:b"}}',
    '{"result":{"result":{"content":[{"type":"resource_link","uri":"a:b"}]}}}',
  ])('[MCP-7] leaves %s unchanged', text => {
    expect(change(text)).toBe(text);
  });

  it('[SEC-4] handles a megabyte of links, and of nesting, in one pass', () => {
    const many = `{"content":[${Array.from({ length: 20_000 }, () => LINK).join(',')}]}`;
    expect(change(many).split('notes+note:').length).toBe(20_001);
    const deep = '{"result":'.repeat(50_000) + '{}' + '}'.repeat(50_000);
    expect(change(deep)).toBe(deep);
  });
});
