/** Segments: they read back as built, broken ones are refused, and unchanged tools are not embedded again. */
import { describe, expect, it } from 'vitest';

import { rawMembers } from '../../../src/shared/json/json-spans.ts';
import type { Embedding } from '../../../src/search/text/embedding.ts';
import { buildSegment, readSegment, toSearchedTool } from '../../../src/search/index/segment.ts';
import { divideDescription } from '../../../src/search/index/searched-tool.ts';
import { EMBEDDING, toSegment, toTool } from './made.ts';

const TOOLS = [
  toTool('create_issue', 'Open an issue.', { readOnly: false }),
  toTool('list\ud800 \u202eissues', 'List issues.', { readOnly: true }),
  toTool('', '東京都の天気'),
];

const counted = () => {
  const texts: string[] = [];
  const embed = (text: string, rest?: string) => {
    texts.push(text);
    return EMBEDDING.embed(text, rest);
  };
  return { texts, embedding: { ...EMBEDDING, embed } satisfies Embedding };
};

describe('a segment', () => {
  it('[FIND-1] keeps names to the code unit, order and flags', () => {
    const segment = toSegment(TOOLS);
    expect(segment.size).toBe(3);
    TOOLS.forEach((tool, i) => {
      expect(segment.nameOf(i)).toBe(tool.name);
      expect(segment.isReadOnly(i)).toBe(tool.readOnly);
    });
  });

  it('[FIND-1] is the same bytes for the same tools', () => {
    expect(buildSegment(TOOLS, EMBEDDING)).toEqual(buildSegment(TOOLS, EMBEDDING));
    expect(toSegment([]).size).toBe(0);
  });

  it('[FIND-1] is refused if bytes are truncated, too long, of another version or foreign', () => {
    const bytes = buildSegment(TOOLS, EMBEDDING);
    const other = Uint8Array.from(bytes);
    other[4] = 200;
    const broken = [
      bytes.slice(0, -1),
      new Uint8Array([...bytes, 0]),
      other,
      new Uint8Array(3),
      new Uint8Array(400),
    ];
    for (const { buffer } of broken) expect(readSegment(buffer)).toBeUndefined();
  });

  it('[FIND-1] embeds only what changed, and equals a new build', () => {
    const previous = toSegment(TOOLS);
    const { texts, embedding } = counted();
    const tools = [TOOLS[2], toTool('close_issue', 'Close an issue.'), TOOLS[0]].flatMap(
      tool => tool ?? [],
    );
    const bytes = buildSegment(tools, embedding, previous);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain('close_issue');
    expect(bytes).toEqual(buildSegment(tools, EMBEDDING));
  });

  it('[FIND-1] embeds everything again for another table', () => {
    const { texts, embedding } = counted();
    buildSegment(TOOLS, { ...embedding, id: embedding.id + 1 }, toSegment(TOOLS));
    expect(texts).toHaveLength(TOOLS.length);
  });

  it('[FIND-1] stays small, whatever a server writes', () => {
    const flood = 'stuffed words of every kind '.repeat(40_000);
    const parameters = Array.from({ length: 5_000 }, (_, i) => ({
      name: `p${i}`,
      description: flood,
    }));
    const bytes = buildSegment([toTool('t', flood, { title: flood, parameters })], EMBEDDING);
    expect(bytes.byteLength).toBeLessThan(10_000);
  });
});

describe('the searched parts of a definition', () => {
  const read = (definition: unknown) => toSearchedTool(rawMembers(JSON.stringify(definition)));

  it('[FIND-1] are name, title, description, parameters and whether it is read-only', () => {
    const definition = {
      name: 'a',
      title: 'A',
      description: 'd',
      annotations: { readOnlyHint: true, title: 'ignored' },
      inputSchema: {
        type: 'object',
        properties: { x: { type: 'string', description: 'the x' }, y: true },
      },
    };
    expect(read(definition)).toEqual({
      name: 'a',
      title: 'A',
      description: 'd',
      parameters: [{ name: 'x', description: 'the x' }, { name: 'y' }],
      readOnly: true,
    });
    expect(read({ name: 'b', annotations: { title: 'B' } }).title).toBe('B');
  });

  it.each([
    {},
    { name: 5, title: [], description: {}, inputSchema: 'x', annotations: null },
    { name: 'n', inputSchema: [1], annotations: { readOnlyHint: 'true', title: 3 } },
    { name: 'n', inputSchema: { properties: ['a'] } },
    { name: 'n', inputSchema: { properties: { a: null, b: { description: 7 } } } },
  ])('[FIND-1] leave out members of another type: %j', definition => {
    const tool = read(definition);
    expect(tool.readOnly).toBe(false);
    expect(tool.parameters.every(({ description }) => description === undefined)).toBe(true);
    expect(tool).not.toHaveProperty('description');
    expect(tool).not.toHaveProperty('title');
    expect(typeof tool.name).toBe('string');
  });

  it.each([
    ['Opens an issue. Needs a title.', 'Opens an issue.'],
    ['Opens an issue in v1.2 of it? Yes', 'Opens an issue in v1.2 of it?'],
    ['E.g. one. It is long enough.', 'E.g. one.'],
    ['Opens one new issue\nArgs: title', 'Opens one new issue\n'],
    [
      '指定した都市の現在の天気を取得します。都市名が必要です',
      '指定した都市の現在の天気を取得します。',
    ],
    ['word '.repeat(100), 'word '.repeat(40).trimEnd()],
    ['x'.repeat(300), 'x'.repeat(200)],
    ['short', 'short'],
    ['', ''],
  ])('[FIND-1] split a description after its first sentence: %j', (description, lead) => {
    const divided = divideDescription(description);
    expect(divided.lead).toBe(lead);
    expect(divided.lead + divided.rest).toBe(description);
  });

  it('[FIND-1] are bounded, except for the name, which identifies the tool', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`p${i}`, { description: 'x'.repeat(999) }]),
    );
    const tool = read({
      name: 'n'.repeat(3_000),
      description: 'd'.repeat(1_000_000),
      title: 't'.repeat(9_999),
      inputSchema: { properties },
    });
    expect(tool.name).toHaveLength(3_000);
    expect(tool.description).toHaveLength(4_000);
    expect(tool.title).toHaveLength(256);
    expect(tool.parameters).toHaveLength(64);
    expect(tool.parameters[0]?.description).toHaveLength(256);
  });
});
