/** Checks the architecture of the tree; and checks each check on a small sample that breaks it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as documents from './documents.ts';
import { checkFloors, findCircles, FLOORS, packagesInConsole, roomOf } from './rooms.ts';
import { listFiles, parseSource, readSources } from './source-file.ts';
import * as rules from './source-rules.ts';
import { checkWords, oldWordsIn } from './words.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');
const isThere = (path: string) => existsSync(`${ROOT}${path}`);

const src = readSources(ROOT, 'src');
const cli = readSources(ROOT, 'cli/src');
const consoleCode = readSources(ROOT, 'console/src', ['.ts', '.tsx']);
const code = [
  ...src,
  ...cli,
  ...['test', 'local', 'bench'].flatMap(folder => readSources(ROOT, folder)),
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
/** A document that a script generates. */
const WRITTEN = 'docs/conformance.md';
/** The rooms that are folders; the others are single files. */
const folders = FLOORS.flat().filter(room => isThere(`src/${room}`));
const readmes = texts.filter(({ path }) => /^src\/.*README\.md$/.test(path));
const otherReadmes = texts.filter(({ path }) => /^(cli\/src|local)\/(.*\/)?README\.md$/.test(path));
const architecture = texts.filter(({ path }) => path === 'docs/architecture.md');
const glossary = texts.filter(({ path }) => path === 'docs/glossary.md');

describe('the tree', () => {
  it('was read', () => {
    expect(src.length).toBeGreaterThan(20);
    expect(texts.length).toBeGreaterThan(code.length);
    expect(consoleCode.length).toBeGreaterThan(20);
    expect(dependencies).toContain('zod');
    expect(kvBindings).toContain('CATALOG');
    expect(folders).toContain('gateway');
    expect([architecture.length, glossary.length]).toEqual([1, 1]);
  });

  it.each([
    ['imports run down', () => src.flatMap(checkFloors)],
    ['no files import each other in a circle', () => findCircles([...src, ...cli])],
    ['the console bundles no package of src', () => packagesInConsole(consoleCode, src)],
    ['SQL is in stores', () => src.flatMap(rules.checkSql)],
    ['KV is in *-kv.ts', () => src.flatMap(file => rules.checkKv(file, kvBindings))],
    ['bindings are in the root and the objects', () => src.flatMap(rules.checkEnv)],
    ['Hono is in endpoints', () => src.flatMap(rules.checkHono)],
    ['only dependencies ship', () => src.flatMap(file => rules.checkPackages(file, dependencies))],
    ['module scope is shared by nobody', () => src.flatMap(rules.checkModuleScope)],
    ['files are short', () => code.flatMap(rules.checkLength)],
    ['files are named well', () => code.flatMap(file => rules.checkName(file.path))],
    ['files begin with their contract', () => code.flatMap(rules.checkHeader)],
    ['things are called by one word', () => [...src, ...cli].flatMap(checkWords)],
    ['no text names a machine', () => texts.flatMap(rules.checkMachinePaths)],
    ['each room has a README.md', () => documents.checkReadmes(folders, readmes)],
    [
      'each README.md of src/ is short',
      () => readmes.flatMap(file => documents.checkLines(file, documents.MAX_README_LINES)),
    ],
    [
      'docs/architecture.md is short',
      () =>
        architecture.flatMap(file => documents.checkLines(file, documents.MAX_ARCHITECTURE_LINES)),
    ],
    [
      'lines of documents are short',
      () =>
        texts
          .filter(({ path }) => path.endsWith('.md') && path !== WRITTEN)
          .flatMap(documents.checkColumns),
    ],
    [
      'paths in documents exist',
      () =>
        [...architecture, ...readmes, ...otherReadmes].flatMap(file =>
          documents.checkPaths(file, isThere, folders),
        ),
    ],
  ])('%s', (_rule, check) => {
    expect(check()).toEqual([]);
  });
});

describe('rooms', () => {
  it('all exist, each once', () => {
    const rooms = new Set(src.map(({ path }) => roomOf(path)));
    expect([...rooms].toSorted()).toEqual(FLOORS.flat().toSorted());
  });

  it.each([
    ['src/shared/util/a.ts', `import { b } from '../../gateway/b.ts';`],
    ['src/gateway/a.ts', `import type { B } from '../search/b.ts';`],
    ['src/gateway/a.ts', `export { b } from '../mcp/b.ts';`],
    ['src/gateway/steps/a.ts', `const b = await import('../../sessions/b.ts');`],
    ['src/access/a.ts', `import { b } from '../upstream/b.ts';`],
    ['src/mcp/a.ts', `import type { B } from '../api/b.ts';`],
    ['src/servers/a.ts', `type B = import('../config.ts').B;`],
    ['src/servers/a.ts', `import { b } from '../../test/b.ts';`],
    ['src/somewhere/a.ts', ``],
  ])('%s refuses %s', (path, text) => {
    expect(checkFloors(parseSource(path, text))).toHaveLength(1);
  });

  it.each([
    [
      'src/gateway/a.ts',
      `import { b } from '../upstream/b.ts';\nimport { c } from './steps/c.ts';`,
    ],
    [
      'src/mcp/legacy/a.ts',
      `import { b } from '../classify.ts';\nimport { C } from '../../config.ts';`,
    ],
    ['src/compose.ts', `import { b } from './objects/b.ts';\nimport { c } from './app.ts';`],
    ['src/shared/util/a.ts', `// import { b } from '../../gateway/b.ts';`],
  ])('%s allows %s', (path, text) => {
    expect(checkFloors(parseSource(path, text))).toEqual([]);
  });

  it('a cycle is found, also one of types', () => {
    const files = [
      parseSource('src/mcp/a.ts', `import type { B } from './b.ts';`),
      parseSource('src/mcp/b.ts', `import { c } from './c.ts';`),
      parseSource('src/mcp/c.ts', `import { a } from './a.ts';\nimport './d.ts';`),
      parseSource('src/mcp/d.ts', ``),
    ];
    expect(findCircles(files)).toEqual([['src/mcp/a.ts', 'src/mcp/b.ts', 'src/mcp/c.ts']]);
    expect(findCircles(files.slice(1))).toEqual([]);
  });
});

it('a package that the console would bundle is found', () => {
  const view = parseSource(
    'console/src/a.tsx',
    `import { b } from '../../src/http/b.ts';\nimport type { D } from '../../src/http/d.ts';`,
  );
  const files = [
    parseSource('src/http/b.ts', `import { c } from './c.ts';`),
    parseSource('src/http/c.ts', `import { z } from 'zod';\nimport type { Hono } from 'hono';`),
    parseSource('src/http/d.ts', `import { z } from 'zod';`),
  ];
  expect(packagesInConsole([view], files)).toEqual([
    'the console bundles src/http/c.ts, which imports zod',
  ]);
});

describe('words', () => {
  it.each([
    ['src/mcp/call-ears.ts', ''],
    ['src/mcp/a.ts', 'class Teller {}'],
    ['src/mcp/a.ts', 'function parkTimer() {}'],
    ['src/mcp/a.ts', 'class A { #pins = 1; }'],
    ['src/mcp/a.ts', 'interface A { reach: string }'],
    ['cli/src/a.ts', 'const f = ({ news }: { news: string }) => news;'],
  ])('%s refuses %s', (path, text) => {
    expect(checkWords({ path, text })).toHaveLength(1);
  });

  it('are matched as whole words, in declarations', () => {
    const text = `const early = { spin: 1 }; // an ear\nconst a = other.news + row.pins_stamp + 'park';`;
    expect(checkWords({ path: 'src/mcp/surface.ts', text })).toEqual([]);
    expect(oldWordsIn('MAX_PINS')).toEqual(['pin']);
  });
});

describe('rules', () => {
  const machinePath = ['', 'home', 'somebody', 'portico'].join('/');

  it.each<[string, string, string, (file: ReturnType<typeof parseSource>) => string[]]>([
    ['SQL', 'src/servers/a.ts', `const q = 'SELECT id FROM servers';`, rules.checkSql],
    ['SQL', 'src/servers/a.ts', 'const q = `DELETE FROM a WHERE id = ${id}`;', rules.checkSql],
    ['SQL', 'src/objects/a-object.ts', `this.ctx.storage.sql.exec(q);`, rules.checkSql],
    ['SQL', 'src/api/a.ts', `db.prepare(q);`, rules.checkSql],
    ['KV', 'src/compose.ts', `await env.CATALOG.get(k);`, file => rules.checkKv(file, ['CATALOG'])],
    [
      'KV',
      'src/monitor/a.ts',
      `function f(kv: KVNamespace) {}`,
      file => rules.checkKv(file, ['X']),
    ],
    ['Env', 'src/api/a.ts', `const a = (env: Env) => env;`, rules.checkEnv],
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
  ])('a breach is found: %s in %s', (_rule, path, text, check) => {
    expect(check(parseSource(path, text))).toHaveLength(1);
  });

  it.each<[string, string, (file: ReturnType<typeof parseSource>) => string[]]>([
    ['src/servers/a-store.ts', `db.prepare('SELECT id FROM servers');`, rules.checkSql],
    ['src/servers/a.ts', `const text = 'Select one from the list';`, rules.checkSql],
    ['src/servers/a.ts', `// SELECT id FROM servers`, rules.checkSql],
    ['src/monitor/a-kv.ts', `kv.CATALOG.get(k);`, file => rules.checkKv(file, ['CATALOG'])],
    ['src/compose.ts', `createKv(env.CATALOG);`, file => rules.checkKv(file, ['CATALOG'])],
    ['src/objects/a-object.ts', `const a = (env: Env) => env;`, rules.checkEnv],
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
    ['src/mcp/sse/sse-route.ts', '', file => rules.checkName(file.path)],
  ])('no false breach is reported: %s', (path, text, check) => {
    expect(check(parseSource(path, text))).toEqual([]);
  });
});

describe('documents', () => {
  const isFileThere = (path: string) => path === 'src/gateway/steps/' || path === 'src/app.ts';
  const pathsOf = (path: string, text: string) =>
    documents.checkPaths({ path, text }, isFileThere, ['gateway']);

  it('a room without a README.md is found', () => {
    const there = [{ path: 'src/mcp/README.md', text: '' }];
    expect(documents.checkReadmes(['mcp', 'api'], there)).toEqual(['src/api/README.md is missing']);
  });

  it('a document that is too long is found', () => {
    const lines = (count: number) => ({ path: 'docs/a.md', text: 'a\n'.repeat(count) });
    expect(documents.checkLines(lines(16), 15)).toHaveLength(1);
    expect(documents.checkLines(lines(15), 15)).toEqual([]);
  });

  it('a line that is too long is found, but not in a table or a code block', () => {
    const long = 'a'.repeat(101);
    const columnsOf = (text: string) => documents.checkColumns({ path: 'docs/a.md', text });
    expect(columnsOf(long)).toHaveLength(1);
    expect(columnsOf(`\`\`\`\n${long}\n\`\`\`\n${long}`)).toHaveLength(1);
    expect(columnsOf(`\`\`\`\n${long}\n\`\`\`\n| ${long} |\n${long.slice(1)}`)).toEqual([]);
  });

  it.each(['`a\nb` `core.ts`', '`src/gone.ts`', '`gateway/gone`', '`gone/`', '`test/gone.mjs`'])(
    'a path that does not exist is found: %s',
    text => {
      expect(pathsOf('src/gateway/README.md', text)).toHaveLength(1);
    },
  );

  it.each([
    '`steps/`',
    '`app.ts`',
    '`src/app.ts`',
    '`tools/call`',
    '`*-store.ts`',
    '`/mcp`',
    'a.ts',
  ])('no false breach is reported: %s', text => {
    expect(pathsOf('src/gateway/README.md', text)).toEqual([]);
  });
});
