/** The gate between the lines of the source documents, their tests and the generated table. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { writeInto } from '../../protocol/table.ts';
import { checkDocuments, COMMAND, MARK, toTables } from '../../source-documents/document.ts';
import { DOCUMENTS } from '../../source-documents/documents.ts';
import { readCitations } from './citations.ts';
import { listFiles } from './source-file.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');

it('has each line once, and a reason where Portico differs', () => {
  expect(DOCUMENTS.flatMap(({ lines }) => lines).length).toBeGreaterThan(240);
  expect(checkDocuments(DOCUMENTS)).toEqual([]);
});

it('names tests that exist', () => {
  const missing = DOCUMENTS.flatMap(({ tests = [] }) => tests).filter(
    test => !existsSync(`${ROOT}${test}`),
  );
  expect(missing).toEqual([]);
  const cited = new Set(
    listFiles(ROOT, 'test', ['.test.ts'])
      .flatMap(path => readCitations(path, read(path)))
      .map(({ id }) => id),
  );
  const lines = DOCUMENTS.filter(({ tests }) => !tests).flatMap(document => document.lines);
  expect(lines.filter(({ id }) => !cited.has(id))).toEqual([]);
});

it('matches the generated document', () => {
  const document = read('docs/source-documents.md');
  // Tables are padded and text is wrapped by the formatter.
  const plain = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll(/-{3,}/g, '---');
  const written = writeInto(document, toTables(DOCUMENTS), MARK);
  expect(plain(written), `run ${COMMAND}`).toBe(plain(document));
});

it('reports a duplicate line, and a difference without a reason', () => {
  const lines = [
    { id: 'X1', says: 'a' },
    { id: 'X1', says: 'b', does: 'c' },
  ];
  const faults = checkDocuments([{ title: 'T', asked: '', lines }]);
  expect(faults).toEqual(['T: X1 is there twice', 'T: X1 has a difference or a reason, not both']);
});
