/** The gate between the manifest, the tests and the documents that name requirements. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PROBES } from '../../protocol/proofs.ts';
import { requirements, type Requirement } from '../../requirements.ts';
import { checkCitations, readCitations } from './citations.ts';
import { listFiles } from './source-file.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');

/** The number of requirements of each area and story, so that a lost one is noticed. */
const COUNTS = {
  MCP: 12,
  UP: 5,
  REG: 8,
  ACC: 9,
  SEC: 10,
  FIND: 5,
  LLM: 6,
  CLI: 4,
  OPS: 8,
  EDGE: 4,
  'AG-US1': 8,
  'AG-US2': 7,
  'AG-US3': 8,
  'AG-US4': 8,
  'AG-US5': 8,
  'AG-US6': 7,
  'AG-US7': 7,
};

function requirement(id: string, state: Requirement['state']): Requirement {
  return { id, area: 'X', state, text: 'x' };
}

describe('the manifest', () => {
  it('has every area complete, without gaps', () => {
    const ids = Object.entries(COUNTS).flatMap(([area, count]) =>
      Array.from({ length: count }, (_, index) =>
        area.startsWith('AG-') ? `${area}-AC${index + 1}` : `${area}-${index + 1}`,
      ),
    );
    expect(requirements.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  it('agrees with what the tests cite', () => {
    const paths = [...listFiles(ROOT, 'test', ['.test.ts']), ...listFiles(ROOT, PROBES, ['.ts'])];
    const citations = paths.flatMap(path => readCitations(path, read(path)));
    expect(checkCitations(requirements, citations)).toEqual([]);
  });
});

describe('docs/protocol-support.md', () => {
  const states = new Map(requirements.map(({ id, state }) => [id, state]));
  const rows = read('docs/protocol-support.md')
    .split('\n')
    .filter(line => /\|\s*(yes|partly|no)\s*\|/.test(line))
    .map(line => ({
      line,
      ids: line.split('|').at(-2)?.trim().split(', ') ?? [],
      claims: /\|\s*(yes|partly)\s*\|/.test(line),
    }));

  it('cites a requirement that exists in every row', () => {
    expect(rows.length).toBeGreaterThan(10);
    const unknown = rows.filter(({ ids }) => !ids.every(id => states.has(id)));
    expect(unknown.map(({ line }) => line)).toEqual([]);
  });

  it('claims no requirement that is only planned', () => {
    const claimed = rows.filter(
      ({ claims, ids }) => claims && ids.every(id => states.get(id) === 'planned'),
    );
    expect(claimed.map(({ line }) => line)).toEqual([]);
  });
});

describe('the gate itself', () => {
  it.each([
    [`it('[MCP-1] speaks', () => {});`, ['MCP-1']],
    [`test('speaks [MCP-1] [AG-US4-AC2]', () => {});`, ['MCP-1', 'AG-US4-AC2']],
    ['describe(`[UP-2] ${name}`, () => {});', ['UP-2']],
    [`it.each([1])('[MCP-12] %s', () => {});`, ['MCP-12']],
    [`it.concurrent('[MCP-3]', () => {});`, ['MCP-3']],
    [`it.skip('[MCP-1] speaks', () => {});`, []],
    [`describe.skip('x', () => { it('[MCP-1]', () => {}); });`, []],
    [`it.todo('[MCP-1] speaks');`, []],
    [`// it('[MCP-1] speaks', () => {});`, []],
    [`const text = '[MCP-1]';`, []],
  ])('reads %s', (text, ids) => {
    expect(readCitations('a.test.ts', text).map(({ id }) => id)).toEqual(ids);
  });

  it.each([
    ['a done id without a test', [requirement('A-1', 'done')], [], 1],
    ['a done id with a test', [requirement('A-1', 'done')], ['A-1'], 0],
    ['a started id without a test', [requirement('A-1', 'started')], [], 0],
    ['a cited id that does not exist', [requirement('A-1', 'started')], ['A-2'], 1],
    ['a cited id that is only planned', [requirement('A-1', 'planned')], ['A-1'], 1],
    [
      'an id that is there twice',
      [requirement('A-1', 'started'), requirement('A-1', 'started')],
      [],
      1,
    ],
  ] satisfies [string, Requirement[], string[], number][])(
    'judges %s',
    (_what, manifest, ids, count) => {
      const citations = ids.map(id => ({ id, path: 'a.test.ts' }));
      expect(checkCitations(manifest, citations)).toHaveLength(count);
    },
  );
});
