/** docs/storage-schema.md names every table and column of the migrations and every object of the configuration. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { MIGRATION_NAMES } from '../../../src/servers/health/migration-names.ts';
import { listFiles } from './source-file.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');

/** `table.column` for every column that the statements create or add. */
function readColumns(sql: string): string[] {
  const created = [...sql.matchAll(/CREATE TABLE (\w+) \(\n([\s\S]*?)\n\)/g)].flatMap(
    ([, table, body = '']) =>
      [...body.matchAll(/^ {2}([a-z][a-z_\d]*) /gm)].map(([, column]) => `${table}.${column}`),
  );
  const added = [...sql.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g)].map(
    ([, table, column]) => `${table}.${column}`,
  );
  return [...created, ...added];
}

/** `heading.code` for the first cell of each row below a third-level heading. */
function readDocumented(markdown: string): string[] {
  return markdown.split(/^##+ /m).flatMap(section => {
    const name = /^`(\w+)`/.exec(section)?.[1];
    const cells = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, cell]) => `${name}.${cell}`);
    return name === undefined ? [] : [name, ...cells];
  });
}

const columns = listFiles(ROOT, 'migrations', ['.sql']).flatMap(path => readColumns(read(path)));
const documented = readDocumented(read('docs/storage-schema.md'));

it('[OPS-5] the code knows the list of migrations', () => {
  // A database that lacks one is not ready: see `/health/ready`.
  const paths = MIGRATION_NAMES.map(name => `migrations/${name}`);
  expect(paths).toEqual(listFiles(ROOT, 'migrations', ['.sql']).toSorted());
});

it('names every column', () => {
  expect(columns).toContain('servers.catalog_hash');
  expect(columns.filter(column => !documented.includes(column))).toEqual([]);
});

it('names no column that does not exist', () => {
  const tables = new Set(columns.map(column => column.split('.')[0]));
  const described = documented.filter(
    entry => tables.has(entry.split('.')[0]) && entry.includes('.'),
  );
  expect(described.filter(entry => !columns.includes(entry))).toEqual([]);
});

it('names every object', () => {
  const classes = [...read('wrangler.toml').matchAll(/^class_name = "(\w+)"/gm)].map(
    match => match[1],
  );
  expect(classes).toContain('ClientSession');
  expect(classes.filter(name => !documented.includes(name ?? ''))).toEqual([]);
});

it('would find a column without a description', () => {
  const sql = 'CREATE TABLE a (\n  id TEXT,\n  b TEXT\n) STRICT;\nALTER TABLE a ADD COLUMN c TEXT;';
  expect(readColumns(sql)).toEqual(['a.id', 'a.b', 'a.c']);
  expect(readDocumented('### `a`\n\n| column |\n| `id` | x |\n')).toEqual(['a', 'a.id']);
});
