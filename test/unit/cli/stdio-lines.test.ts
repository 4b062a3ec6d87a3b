/** Lines from bytes in chunks of any size, and how they are parsed. */
import { describe, expect, it } from 'vitest';
import { readLines, type Line } from '../../../cli/src/stdio/lines.ts';
import { idFromEnds, parseMessage } from '../../../cli/src/stdio/message.ts';
import { createRandom, SEED } from '../seeded.ts';

async function* inPieces(text: string, size: () => number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  let at = 0;
  while (at < bytes.length) {
    const end = at + size();
    yield bytes.subarray(at, end);
    at = end;
  }
}

async function read(text: string, maxBytes: number, size = () => 3): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of readLines(inPieces(text, size), maxBytes)) lines.push(line);
  return lines;
}

describe('lines', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\n\nb', ['a', '', 'b']],
    ['ä🚀\r\n漢字\n', ['ä🚀\r', '漢字']],
  ])('[CLI-2] are read from %j', async (text, lines) => {
    expect(await read(text, 100)).toEqual(lines.map(line => ({ text: line })));
  });

  it(`[CLI-2] are the same for chunks of any size (seed ${SEED})`, async () => {
    const random = createRandom();
    for (let round = 0; round < 200; round += 1) {
      const lines = Array.from({ length: random.below(6) }, () =>
        'ä'.repeat(random.below(30)).replace(/ä$/, 'x'),
      );
      const text = lines.map(line => `${line}\n`).join('');
      const found = await read(text, 1_000, () => 1 + random.below(20));
      expect(found).toEqual(lines.map(line => ({ text: line })));
    }
  });

  it(`[CLI-2] that are too long are skipped, with their ends kept (seed ${SEED})`, async () => {
    const random = createRandom();
    for (let round = 0; round < 50; round += 1) {
      const long = `head${'x'.repeat(5_000 + random.below(9_000))}tail`;
      const text = `a\n${long}\nb\n`;
      const [first, second, third, ...rest] = await read(
        text,
        4_000,
        () => 1 + random.below(4_000),
      );
      expect([first, third, rest]).toEqual([{ text: 'a' }, { text: 'b' }, []]);
      if (!second || !('tooLong' in second)) throw new Error('the long line is not told');
      expect(second.tooLong.head).toMatch(/^headx/);
      expect(second.tooLong.tail).toMatch(/xtail$/);
      expect(second.tooLong.head.length + second.tooLong.tail.length).toBeLessThanOrEqual(2_048);
    }
  });

  it('[CLI-2] may be exactly as long as the bound', async () => {
    expect(await read('abcd\n', 4)).toEqual([{ text: 'abcd' }]);
    expect(await read('abcde', 4)).toEqual([{ tooLong: { head: 'abcde', tail: 'abcde' } }]);
  });
});

describe('a message', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"a"}', { kind: 'request', id: 1, era: 'legacy' }],
    ['{"jsonrpc":"2.0","id":"x","method":"a","params":{}}', { kind: 'request', id: 'x' }],
    [
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
      { kind: 'request', era: 'modern', version: '2026-07-28' },
    ],
    ['{"jsonrpc":"2.0","method":"a"}', { kind: 'notification' }],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', { kind: 'response' }],
    ['{"jsonrpc":"2.0","id":1,"error":{}}', { kind: 'response' }],
    [
      '[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},{"id":2,"result":{}}]',
      { kind: 'batch', ids: [1] },
    ],
    ['[]', { kind: 'refused', id: null, code: -32600 }],
    ['{', { kind: 'refused', id: null, code: -32700 }],
    ['7', { kind: 'refused', id: null, code: -32600 }],
    ['{"id":1,"method":"a"}', { kind: 'refused', id: null }],
    ['{"jsonrpc":"2.0","id":1}', { kind: 'refused', id: 1 }],
    ['{"jsonrpc":"2.0","id":null,"method":"a"}', { kind: 'refused', id: null }],
    ['{"jsonrpc":"2.0","id":1.5,"method":"a"}', { kind: 'refused', id: null }],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":[]}', { kind: 'refused', id: 1 }],
  ])('[CLI-2] is read: %s', (text, expected) => {
    expect(parseMessage(text)).toMatchObject(expected);
  });

  it.each([
    ['{"jsonrpc":"2.0","id":7,"method":"a","par', 'xx"}}', 7],
    ['{"id":"a\\"b","method":"a","par', 'xx"}}', 'a"b'],
    ['{"method":"a","params":{', 'xx"},"jsonrpc":"2.0","id":8}', 8],
    ['{"method":"a","params":{', 'xx"},"id":8,"jsonrpc":"2.0"}\r', 8],
    ['{"method":"a","params":{', '"id":8}}', null],
    ['{"method":"a","params":{', 'xx"}}', null],
    ['{"jsonrpc":"2.0","id":7,"result":{', 'xx"}}', null],
    ['{"result":{', '},"jsonrpc":"2.0","id":7}', null],
    ['{"id":99999999999999999,"method":"a"', '}', 99_999_999_999_999_999n],
  ])('[CLI-2] has its id read from its two ends: %s … %s', (head, tail, id) => {
    expect(idFromEnds(head, tail)).toBe(id);
  });
});
