/** Content for clients of older revisions: each block is valid in their schema, and none is lost. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toOlderContent } from '../../../src/gateway/results/older-content.ts';
import { LEGACY_VERSIONS, type JsonObject } from '../../../src/shared/protocol.ts';

const LINK = { type: 'resource_link', uri: 'note://1', name: 'one', description: 'A note' };
const BLOCKS = [
  { type: 'text', text: 'a' },
  { type: 'image', data: 'aaaa', mimeType: 'image/png' },
  { type: 'audio', data: 'bbbb', mimeType: 'audio/wav' },
  LINK,
  { type: 'resource', resource: { uri: 'note://2', text: 'b' } },
];

/** The kinds of blocks of each revision: `PromptMessage` and `ContentBlock` of its schema.json. */
const text = z.object({ type: z.literal('text'), text: z.string() });
const media = (type: string) =>
  z.object({ type: z.literal(type), data: z.base64(), mimeType: z.string() });
const contents = { uri: z.string(), mimeType: z.string().optional() };
const resource = z.object({
  type: z.literal('resource'),
  resource: z.union([
    z.object({ ...contents, text: z.string() }),
    z.object({ ...contents, blob: z.base64() }),
  ]),
});
const link = z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string() });
const kinds = (version: string) => {
  const known: z.ZodType[] = [text, media('image'), resource];
  if (version >= '2025-03-26') known.push(media('audio'));
  if (version >= '2025-06-18') known.push(link);
  return known;
};

const change = (result: JsonObject, version: string) =>
  JSON.parse(toOlderContent(JSON.stringify(result), result, version)) as JsonObject;

describe.each(LEGACY_VERSIONS)('content for a client of %s', version => {
  const block = z.union(kinds(version));

  it('[MCP-1] [MCP-5] of a tool fits its schema', () => {
    const { content } = change({ content: BLOCKS }, version);
    expect(z.array(block).parse(content)).toHaveLength(BLOCKS.length);
  });

  it('[MCP-1] [MCP-5] of a prompt fits its schema', () => {
    const messages = BLOCKS.map(content => ({ role: 'user', content }));
    const changed = change({ messages }, version)['messages'];
    expect(z.array(z.object({ content: block })).parse(changed)).toHaveLength(BLOCKS.length);
  });

  it('[MCP-7] is unchanged if its revision has it', () => {
    const known = BLOCKS.filter(each => block.safeParse(each).success);
    const raw = JSON.stringify({ content: known }, null, 1);
    expect(toOlderContent(raw, { content: known }, version)).toBe(raw);
  });
});

describe('toOlderContent', () => {
  it('[MCP-7] describes a link in words, and keeps the bytes of audio', () => {
    const { content } = change({ content: BLOCKS.slice(2, 4) }, '2024-11-05');
    expect(content).toEqual([
      { type: 'resource', resource: { uri: 'urn:audio', mimeType: 'audio/wav', blob: 'bbbb' } },
      { type: 'text', text: 'one: note://1\nA note' },
    ]);
  });

  it('[MCP-7] describes a link by the members that it has', () => {
    const { content } = change(
      {
        content: [
          { type: 'resource_link', uri: 'note://1', name: 'one', title: 'The first' },
          { type: 'resource_link', uri: 'note://2', name: 'two', title: 7, description: null },
        ],
      },
      '2025-03-26',
    );
    expect(content).toEqual([
      { type: 'text', text: 'The first: note://1' },
      { type: 'text', text: 'two: note://2' },
    ]);
  });
});
