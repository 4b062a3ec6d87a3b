/** The gate between the manifest of the protocol table, the titles of the tests, and the document that shows both. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ALL_CELLS, parseCells, readTags, toCellName, UPSTREAMS } from '../../protocol/cells.ts';
import { features, type Feature } from '../../protocol/features.ts';
import { PROBES, readProofs } from '../../protocol/proofs.ts';
import { checkFeatures, COMMAND, toTable, writeInto } from '../../protocol/table.ts';
import { requirements } from '../../requirements.ts';
import { readTitles } from './citations.ts';
import { listFiles } from './source-file.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');

describe('the protocol table', () => {
  const proofs = readProofs(ROOT);

  it('has each cell proven or explained, and not both', () => {
    expect(proofs.length).toBeGreaterThan(40);
    expect(checkFeatures(features, proofs)).toEqual([]);
  });

  it('names requirements that exist', () => {
    const known = new Set(requirements.map(({ id }) => id));
    const unknown = features.filter(feature => !feature.requirements.every(id => known.has(id)));
    expect(unknown).toEqual([]);
  });

  it('matches the generated document', () => {
    const document = read('docs/protocol-support.md');
    // Its notes are wrapped like all text.
    const unwrapped = (text: string) => text.replaceAll(/\s+/g, ' ');
    const written = writeInto(document, toTable(features, proofs));
    expect(unwrapped(written), `run ${COMMAND}`).toBe(unwrapped(document));
  });

  it('counts no probe that does not run', () => {
    const matrix = read(`${PROBES}.test.ts`);
    const probing = listFiles(ROOT, PROBES, ['.ts']).filter(
      path => readTitles(path, read(path)).flatMap(readTags).length > 0,
    );
    expect(probing.length).toBeGreaterThan(3);
    const imported = probing.filter(path =>
      matrix.includes(`'./${path.slice('test/e2e/gateway/'.length)}'`),
    );
    expect(imported).toEqual(probing);
  });

  it('has a command that writes it', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts[COMMAND.slice('npm run '.length)]).toContain('test/protocol/main.ts');
  });
});

describe('cells', () => {
  it.each([
    ['* > *', 15],
    ['legacy > modern', 1],
    ['legacy, sse > *', 10],
    ['* > legacy, sse', 6],
  ])('%s are %i', (text, count) => {
    expect(parseCells(text)).toHaveLength(count);
  });

  it.each(['legacy > stdout', 'all > *', 'legacy', '* > * > *', ' > '])('%s are none', text => {
    expect(() => parseCells(text)).toThrow(/ is (none of|not) /);
  });

  it('are read from a title', () => {
    const [first, second, ...rest] = readTags(
      '[MCP-4] {a/b: sse > *} {c, d: * > modern} does ${x}',
    );
    expect([first?.feature, first?.cells.map(toCellName)]).toEqual([
      'a/b',
      UPSTREAMS.map(upstream => `sse > ${upstream}`),
    ]);
    expect([second?.feature, second?.cells.length, rest]).toEqual(['c, d', 3, []]);
    expect(readTags('a {thing} that: is > no tag')).toEqual([]);
    expect(() => readTags('{a: carrier > sse}')).toThrow('carrier');
  });

  it('are read from the titles of probes that run', () => {
    const text = `eachCell('{a: * > *} x', p); it.skip('{b: * > *} y', p); // it('{c: * > *}')`;
    const tags = readTitles('a.ts', text).flatMap(readTags);
    expect(tags.map(({ feature }) => feature)).toEqual(['a']);
  });
});

describe('the gate itself', () => {
  const feature = (more: Partial<Feature> = {}): Feature => ({
    id: 'a',
    requirements: ['MCP-1'],
    ...more,
  });
  const none = [['modern > *', 'no such thing']] as const;
  const missing = [['modern > modern', 'not built']] as const;

  it.each<[string, Feature[], string, number]>([
    ['all proven', [feature()], '{a: * > *}', 0],
    ['proven twice', [feature()], '{a: * > *} {a: sse > *}', 0],
    ['proven and explained', [feature({ none })], '{a: legacy, sse > *}', 0],
    ['a cell that is neither', [feature({ none })], '{a: legacy > *}', 5],
    ['nothing proven', [feature()], '', 15],
    ['a cell that is proven and cannot be', [feature({ none })], '{a: * > *}', 5],
    ['a cell that is proven and missing', [feature({ missing })], '{a: * > *}', 1],
    [
      'a cell that cannot be and is missing',
      [feature({ none, missing })],
      '{a: legacy, sse > *}',
      1,
    ],
    ['a proof of nothing', [feature()], '{a: * > *} {b: * > *}', 1],
    ['a feature that is there twice', [feature(), feature()], '{a: * > *}', 1],
  ])('judges %s', (_what, manifest, titles, count) => {
    expect(checkFeatures(manifest, readTags(titles))).toHaveLength(count);
  });

  it('writes marks and reasons', () => {
    const table = toTable(
      [feature({ none, missing: [['sse > sse', 'not built']] })],
      [...readTags('{a: legacy > *} {a: sse > legacy, modern, stdio, stdio-modern}')],
    );
    const [head, , row, , ...notes] = table.split('\n');
    const cellsOf = (line = '') =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim());
    expect(cellsOf(head)).toHaveLength(ALL_CELLS.length + 2);
    expect(cellsOf(row).join(' ')).toBe(
      `\`a\` ${'yes '.repeat(6)}no 1 ${'yes '.repeat(3)}${'– 2 '.repeat(5)}MCP-1`,
    );
    expect(notes).toEqual(['1. not built', '2. no such thing']);
  });

  it('finds the place of the table, or says that there is none', () => {
    const place = read('docs/protocol-support.md');
    expect(writeInto(writeInto(place, 'old'), 'new')).toBe(writeInto(place, 'new'));
    expect(() => writeInto('# Title', 'new')).toThrow('no place');
  });
});
