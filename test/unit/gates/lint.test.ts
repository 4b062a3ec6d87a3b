/** The lint configuration, shown to catch what it is for: each sample is linted under the real configuration. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const refused: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['src/lib/a.ts', `export { b } from '../gateway/b.ts';`, 'no-restricted-imports'],
  ['src/errors/a.ts', `export { b } from '../registry/b.ts';`, 'no-restricted-imports'],
  ['src/formats/a.ts', `export { b } from '../env.ts';`, 'no-restricted-imports'],
  ['src/protocol.ts', `export { b } from './gateway/b.ts';`, 'no-restricted-imports'],
  ['src/gateway/a.ts', `export { b } from '../mcp/b.ts';`, 'no-restricted-imports'],
  ['src/gateway/b.ts', `export { Hono } from 'hono';`, 'no-restricted-imports'],
  ['src/gateway/c.ts', `export { b } from '../wire.ts';`, 'no-restricted-imports'],
  ['src/api/a.ts', `export { b } from '../registry/b-store.ts';`, 'no-restricted-imports'],
  ['src/api/b.ts', `export { b } from '@modelcontextprotocol/core';`, 'no-restricted-imports'],
  ['src/app.ts', `export { b } from '@modelcontextprotocol/client';`, 'no-restricted-imports'],
  ['src/mcp/a.ts', `export { b } from '@modelcontextprotocol/client';`, 'no-restricted-imports'],
  [
    'src/session/a.ts',
    `export { b } from '@modelcontextprotocol/client';`,
    'no-restricted-imports',
  ],
  [
    'src/upstream/a.ts',
    `export { b } from '@modelcontextprotocol/server';`,
    'no-restricted-imports',
  ],
  [
    'src/upstream/b-object.ts',
    `export { b } from '@modelcontextprotocol/server';`,
    'no-restricted-imports',
  ],
  ['src/registry/a-store.ts', `export { b } from '../api/b.ts';`, 'no-restricted-imports'],
  ['src/registry/b.ts', `export { b } from 'node:fs';`, 'no-restricted-imports'],
  ['src/llm/a.ts', `export { b } from '../api/b.ts';`, 'no-restricted-imports'],
  ['src/wire.ts', `export { b } from 'hono';`, 'no-restricted-imports'],
  ['src/health/a.ts', `export const a = (b: any): unknown => b;`, 'no-explicit-any'],
  ['src/health/b.ts', `export const a = (): void => console.log(1);`, 'no-console'],
  ['src/health/c.ts', 'export const a = 1;\n' + '//\n'.repeat(300), 'max-lines'],
  ['src/health/FooBar.ts', `export const a = 1;`, 'filename-case'],
  ['cli/src/a.ts', `export const a = (): void => console.log(1);`, 'no-console'],
  ['cli/src/b.ts', `export const a = (): void => console.error(1);`, 'no-console'],
  [
    'cli/src/c.ts',
    `export const a = (): boolean => process.stdout.write('a');`,
    'no-restricted-properties',
  ],
  ['cli/src/commands/d.ts', `export const { stdout } = process;`, 'no-restricted-properties'],
  ['cli/src/stdio/e.ts', `export { stdout } from 'node:process';`, 'no-restricted-imports'],
  ['test/unit/a.test.ts', `import { it } from 'vitest';\nit('a', () => {});`, 'expect-expect'],
  [
    'test/unit/b.test.ts',
    `import { expect, it } from 'vitest';\nit.only('a', () => expect(1).toBe(1));`,
    'no-focused-tests',
  ],
];

const allowed: readonly (readonly [path: string, text: string])[] = [
  ['src/errors/ok.ts', `export { b } from '../lib/b.ts';`],
  ['src/gateway/ok.ts', `export { b } from '../registry/b-store.ts';`],
  ['src/api/ok.ts', `export { Hono } from 'hono';`],
  ['src/api/ok-too.ts', `export type { B } from '../registry/b-store.ts';`],
  ['src/mcp/ok.ts', `export { b } from '@modelcontextprotocol/server';`],
  ['src/upstream/ok.ts', `export { b } from '@modelcontextprotocol/client';`],
  ['src/connectors/connector-route.ts', `export { Hono } from 'hono';`],
  ['cli/src/terminal.ts', `export const a = (): boolean => process.stdout.write('a');`],
  ['cli/src/ok.ts', `export const a = (): boolean => process.stderr.write('a');`],
];

let folder: string;
let findings: string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portico-lint-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(ROOT, 'oxlint.config.ts'), join(folder, 'oxlint.config.ts'));
  for (const [path, text] of [...refused, ...allowed]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `${text}\n`);
  }
  const oxlint = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const run = spawnSync(process.execPath, [oxlint, '--format', 'unix'], {
    cwd: folder,
    encoding: 'utf8',
  });
  findings = run.stdout.split('\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(refused)('%s is refused: %s', (path, _text, rule) => {
  expect(findings.filter(line => line.startsWith(`${path}:`) && line.includes(rule))).toHaveLength(
    1,
  );
});

it.each(allowed)('%s is allowed: %s', path => {
  expect(findings.filter(line => line.startsWith(`${path}:`))).toEqual([]);
});
