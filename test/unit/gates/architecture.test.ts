/** The architecture, checked on the tree as it is; and each check, checked on a small sample that breaks it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkDirections, findLayer } from './layers.ts';
import { listFiles, parseSource, readSources } from './source-file.ts';
import * as rules from './source-rules.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');

const src = readSources(ROOT, 'src');
const code = [
  ...src,
  ...['test', 'local', 'bench', 'cli/src'].flatMap(folder => readSources(ROOT, folder)),
];
const dependencies = Object.keys(
  (JSON.parse(read('package.json')) as { dependencies: Record<string, string> }).dependencies,
);
const kvBindings = [
  ...read('wrangler.toml').matchAll(/\[\[kv_namespaces\]\]\s*binding = "(\w+)"/g),
].map(match => match[1] ?? '');
const textEndings = ['.ts', '.mjs', '.sql', '.md', '.json', '.toml'];
const texts = [
  ...['src', 'test', 'local', 'bench', 'cli/src', 'migrations', 'docs'].flatMap(folder =>
    listFiles(ROOT, folder, textEndings),
  ),
  ...readdirSync(ROOT).filter(
    path => path !== 'package-lock.json' && textEndings.some(ending => path.endsWith(ending)),
  ),
].map(path => ({ path, text: read(path) }));

describe('the tree', () => {
  it('was read', () => {
    expect(src.length).toBeGreaterThan(20);
    expect(texts.length).toBeGreaterThan(code.length);
    expect(dependencies).toContain('zod');
    expect(kvBindings).toContain('CATALOG');
  });

  it.each([
    ['imports go faces → domain ← edges', () => src.flatMap(checkDirections)],
    ['SQL is in stores', () => src.flatMap(rules.checkSql)],
    ['KV is in *-kv.ts', () => src.flatMap(file => rules.checkKv(file, kvBindings))],
    ['bindings are in the root and the objects', () => src.flatMap(rules.checkEnv)],
    ['Hono is in faces', () => src.flatMap(rules.checkHono)],
    ['only dependencies ship', () => src.flatMap(file => rules.checkPackages(file, dependencies))],
    ['module scope is shared by nobody', () => src.flatMap(rules.checkModuleScope)],
    ['files are short', () => code.flatMap(rules.checkLength)],
    ['files are named well', () => code.flatMap(file => rules.checkName(file.path))],
    ['files begin with their contract', () => code.flatMap(rules.checkHeader)],
    ['no text names a machine', () => texts.flatMap(rules.checkMachinePaths)],
  ])('%s', (_rule, check) => {
    expect(check()).toEqual([]);
  });
});

describe('directions', () => {
  it.each([
    ['src/lib/lru.ts', 'lib'],
    ['src/errors/table.ts', 'errors'],
    ['src/formats/to-gemini.ts', 'formats'],
    ['src/gateway/core.ts', 'domain'],
    ['src/upstream/port.ts', 'domain'],
    ['src/upstream/url-guard.ts', 'domain'],
    ['src/upstream/relay.ts', 'edge'],
    ['src/registry/server-store.ts', 'store'],
    ['src/catalog/server-monitor-object.ts', 'object'],
    ['src/connectors/connector-route.ts', 'face'],
    ['src/wire.ts', 'root'],
    ['src/somewhere/else.ts', undefined],
  ])('%s is %s', (path, layer) => {
    expect(findLayer(path)).toBe(layer);
  });

  it.each([
    ['src/lib/a.ts', `import { b } from '../errors/b.ts';`],
    ['src/errors/a.ts', `import { b } from '../gateway/b.ts';`],
    ['src/protocol.ts', `import type { B } from './gateway/b.ts';`],
    ['src/gateway/a.ts', `import { b } from '../mcp/b.ts';`],
    ['src/gateway/a.ts', `export { b } from '../upstream/relay.ts';`],
    ['src/gateway/a.ts', `const b = await import('../upstream/relay.ts');`],
    ['src/api/a.ts', `import { b } from '../registry/b-store.ts';`],
    ['src/api/a.ts', `import type { B } from '../registry/b-store.ts';`],
    ['src/upstream/a.ts', `import { b } from '../registry/b-store.ts';`],
    ['src/registry/a.ts', `import { b } from '../wire.ts';`],
    ['src/registry/a.ts', `import { b } from '../../test/b.ts';`],
    ['src/registry/a.ts', `type B = import('../api/b.ts').B;`],
    ['src/registry/a.ts', `import { type B, c } from '../upstream/b.ts';`],
  ])('%s refuses %s', (path, text) => {
    expect(checkDirections(parseSource(path, text))).toHaveLength(1);
  });

  it.each([
    ['src/gateway/a.ts', `import type { B } from '../upstream/relay.ts';`],
    ['src/gateway/a.ts', `import { type B } from '../upstream/relay.ts';`],
    ['src/mcp/a.ts', `import { b } from '../gateway/b.ts';`],
    ['src/upstream/a.ts', `import { b } from '../gateway/b.ts';\nimport { c } from './c.ts';`],
    ['src/wire.ts', `import { b } from './upstream/b.ts';\nimport { c } from './mcp/c.ts';`],
    ['src/lib/a.ts', `// import { b } from '../errors/b.ts';`],
  ])('%s allows %s', (path, text) => {
    expect(checkDirections(parseSource(path, text))).toEqual([]);
  });
});

describe('rules', () => {
  const machinePath = ['', 'home', 'somebody', 'portico'].join('/');

  it.each<[string, string, string, (file: ReturnType<typeof parseSource>) => string[]]>([
    ['SQL', 'src/registry/a.ts', `const q = 'SELECT id FROM servers';`, rules.checkSql],
    ['SQL', 'src/registry/a.ts', 'const q = `DELETE FROM a WHERE id = ${id}`;', rules.checkSql],
    ['SQL', 'src/session/a-object.ts', `this.ctx.storage.sql.exec(q);`, rules.checkSql],
    ['SQL', 'src/api/a.ts', `db.prepare(q);`, rules.checkSql],
    ['KV', 'src/wire.ts', `await env.CATALOG.get(k);`, file => rules.checkKv(file, ['CATALOG'])],
    [
      'KV',
      'src/catalog/a.ts',
      `function f(kv: KVNamespace) {}`,
      file => rules.checkKv(file, ['X']),
    ],
    ['Env', 'src/api/a.ts', `import type { Env } from '../env.ts';`, rules.checkEnv],
    ['env', 'src/gateway/a.ts', `import { env } from 'cloudflare:workers';`, rules.checkEnv],
    ['Hono', 'src/gateway/a.ts', `import type { Context } from 'hono';`, rules.checkHono],
    [
      'package',
      'src/mcp/a.ts',
      `import x from 'express';`,
      file => rules.checkPackages(file, ['zod']),
    ],
    [
      'package',
      'src/mcp/a.ts',
      `import x from 'node:fs';`,
      file => rules.checkPackages(file, ['zod']),
    ],
    ['shared server', 'src/mcp/a.ts', `const s = new McpServer({});`, rules.checkModuleScope],
    [
      'shared client',
      'src/upstream/a.ts',
      `export const c = new sdk.Client();`,
      rules.checkModuleScope,
    ],
    ['shared variable', 'src/mcp/a.ts', `let last = 0;`, rules.checkModuleScope],
    ['long file', 'src/mcp/a.ts', '//\n'.repeat(301), rules.checkLength],
    ['header', 'src/mcp/a.ts', `import a from 'b';`, rules.checkHeader],
    ['machine path', 'docs/a.md', `Look in ${machinePath}.`, rules.checkMachinePaths],
    ['machine path', 'docs/a.md', ['C:', 'data'].join('\\'), rules.checkMachinePaths],
    ['name', 'src/mcp/FooBar.ts', '', file => rules.checkName(file.path)],
    ['name', 'src/Mcp/foo.ts', '', file => rules.checkName(file.path)],
    ['name', 'src/mcp/tool-utils.ts', '', file => rules.checkName(file.path)],
  ])('a breach is seen: %s in %s', (_rule, path, text, check) => {
    expect(check(parseSource(path, text))).toHaveLength(1);
  });

  it.each<[string, string, (file: ReturnType<typeof parseSource>) => string[]]>([
    ['src/registry/a-store.ts', `db.prepare('SELECT id FROM servers');`, rules.checkSql],
    ['src/registry/a.ts', `const text = 'Select one from the list';`, rules.checkSql],
    ['src/registry/a.ts', `// SELECT id FROM servers`, rules.checkSql],
    ['src/catalog/a-kv.ts', `kv.CATALOG.get(k);`, file => rules.checkKv(file, ['CATALOG'])],
    ['src/wire.ts', `createKv(env.CATALOG);`, file => rules.checkKv(file, ['CATALOG'])],
    ['src/catalog/a-object.ts', `import type { Env } from '../env.ts';`, rules.checkEnv],
    ['src/gateway/a.ts', `import type { Config } from '../config.ts';`, rules.checkEnv],
    ['src/api/a.ts', `import type { Context } from 'hono';`, rules.checkHono],
    ['src/mcp/a.ts', `import z from 'zod/v4';`, file => rules.checkPackages(file, ['zod'])],
    ['src/mcp/a.ts', `function f() { const s = new McpServer({}); }`, rules.checkModuleScope],
    ['src/mcp/a.ts', '//\n'.repeat(300), rules.checkLength],
    [
      'docs/a.md',
      `GET /mcp/servers, https://a.test/${'home'}/x, ~/${'work'}/x`,
      rules.checkMachinePaths,
    ],
    ['src/mcp/sse-route.ts', '', file => rules.checkName(file.path)],
  ])('no breach is invented: %s', (path, text, check) => {
    expect(check(parseSource(path, text))).toEqual([]);
  });
});
