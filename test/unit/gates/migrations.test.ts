/** The last release runs on the schema of this checkout: migrations only add, and so do the objects of `wrangler.toml`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseWorkerConfig } from '../../../local/worker-config.ts';
import { findBreaks, findWrong } from './migration-rules.ts';
import { listFiles } from './source-file.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');
const { migrations: released } = JSON.parse(read('test/fixtures/last-release/release.json')) as {
  migrations: string[];
};
const all = listFiles(ROOT, 'migrations', ['.sql']).map(path => ({
  name: path.slice('migrations/'.length),
  sql: read(path),
}));
const names = all.map(({ name }) => name);

describe('migrations', () => {
  it('[OPS-4] that the last release lacks only add, or remove what it does not use', () => {
    const added = all.filter(({ name }) => !released.includes(name));
    expect(added.flatMap(({ name, sql }) => findWrong(name, sql, released))).toEqual([]);
    expect(released.filter(name => !names.includes(name))).toEqual([]);
  });

  it.each(['README.md', 'docs/guides/deploy-to-cloudflare.md'])('are counted in %s', document => {
    expect(read(document).match(/\d+(?= migrations)/g)).toEqual([String(all.length)]);
  });

  it('[OPS-4] from before the rule broke it three times, which is found', () => {
    const broken = all.filter(({ sql }) => findBreaks(sql).length > 0).map(({ name }) => name);
    const known = ['0007_server_lifecycle.sql', '0015_audit_of_calls.sql', '0016_connectors.sql'];
    expect(broken.filter(name => released.includes(name))).toEqual(known);
  });

  it.each([
    'DROP TABLE servers',
    'DROP INDEX sessions_principal',
    'DROP TRIGGER a; CREATE TRIGGER b AFTER INSERT ON c BEGIN SELECT 1; END',
    'ALTER TABLE servers RENAME TO machines',
    'ALTER TABLE servers RENAME COLUMN name TO title',
    'ALTER TABLE servers DROP COLUMN name',
    'ALTER TABLE servers ADD COLUMN a TEXT NOT NULL',
    'CREATE UNIQUE INDEX a ON servers (url)',
    "CREATE TRIGGER a BEFORE UPDATE OF url ON servers BEGIN SELECT RAISE(ABORT, 'no'); END",
    'UPDATE servers SET name = lower(name)',
    'ALTER TABLE servers ADD COLUMN a TEXT; UPDATE servers SET a = 1, name = 2',
    'DELETE FROM servers',
    'INSERT OR REPLACE INTO servers (id) VALUES (1)',
    'REPLACE INTO servers (id) VALUES (1)',
    'INSERT INTO servers (id) VALUES (1) ON CONFLICT DO UPDATE SET id = 2',
    'PRAGMA writable_schema = 1',
  ])('[OPS-4] with this statement do not only add: %s', sql => {
    expect(findBreaks(sql)).toHaveLength(1);
  });

  it.each([
    'CREATE TABLE a (id TEXT NOT NULL) STRICT; CREATE UNIQUE INDEX b ON a (id)',
    'CREATE INDEX a ON servers (url)',
    "ALTER TABLE servers ADD COLUMN a TEXT; ALTER TABLE servers ADD COLUMN b TEXT NOT NULL DEFAULT ''",
    'ALTER TABLE servers ADD COLUMN a TEXT; UPDATE servers SET a = name WHERE a IS NULL',
    "INSERT INTO skills (id) VALUES ('drop table a; it is a text')",
    'DROP TRIGGER a; CREATE TRIGGER a AFTER INSERT ON servers BEGIN DELETE FROM b; END',
    '-- DROP TABLE servers\nCREATE TABLE a (x)',
  ])('[OPS-4] with this statement only add: %s', sql => {
    expect(findBreaks(sql)).toEqual([]);
  });

  it('[OPS-4] remove what an earlier release replaced, and not sooner', () => {
    const judge = (name: string) => findWrong(name, 'DROP TABLE a', ['0030_b.sql']);
    expect(judge('0032_contract_0030_a.sql')).toEqual([]);
    expect(judge('0032_contract_0031_a.sql')).toHaveLength(1);
    expect(judge('0032_a.sql')).toHaveLength(1);
  });
});

it('[OPS-4] objects are only added: the last release has none that this Worker lacks', () => {
  const [toml, last] = ['wrangler.toml', 'test/fixtures/last-release/wrangler.toml'].map(read);
  const migrationsOf = (text = '') =>
    text
      .split('[[migrations]]')
      .slice(1)
      .map(each => each.trimEnd());
  expect(migrationsOf(toml).slice(0, migrationsOf(last).length)).toEqual(migrationsOf(last));
  for (const migration of migrationsOf(toml)) {
    expect(migration).toMatch(/^\ntag = "v\d+"\nnew_sqlite_classes = \[[^\]]+\]$/);
  }
  expect(parseWorkerConfig(toml ?? '').objects).toMatchObject(
    parseWorkerConfig(last ?? '').objects,
  );
});
