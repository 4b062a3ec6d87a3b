/** Shows what the lint configuration catches: each sample is linted under the real configuration. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const refused: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['src/gateway/a.ts', `export { Hono } from 'hono';`, 'no-restricted-imports'],
  ['src/compose.ts', `export { b } from 'hono';`, 'no-restricted-imports'],
  ['src/shared/protocol.ts', `export { Hono } from 'hono';`, 'no-restricted-imports'],
  ['src/api/a.ts', `export { b } from '../servers/b-store.ts';`, 'no-restricted-imports'],
  ['src/mcp/legacy/a.ts', `export { b } from '../../access/b-store.ts';`, 'no-restricted-imports'],
  ['src/api/b.ts', `export { b } from '@modelcontextprotocol/core';`, 'no-restricted-imports'],
  ['src/app.ts', `export { b } from '@modelcontextprotocol/client';`, 'no-restricted-imports'],
  ['src/mcp/a.ts', `export { b } from '@modelcontextprotocol/server';`, 'no-restricted-imports'],
  ['src/sessions/a.ts', `export { b } from '@modelcontextprotocol/sdk';`, 'no-restricted-imports'],
  ['src/upstream/a.ts', `export { b } from '@modelcontextprotocol/core';`, 'no-restricted-imports'],
  ['src/servers/b.ts', `export { b } from 'node:fs';`, 'no-restricted-imports'],
  ['src/mcp/c.ts', `export { b } from 'node:fs';`, 'no-restricted-imports'],
  ['src/servers/health/a.ts', `export const a = (b: any): unknown => b;`, 'no-explicit-any'],
  ['src/servers/health/b.ts', `export const a = (): void => console.log(1);`, 'no-console'],
  ['src/servers/health/c.ts', 'export const a = 1;\n' + '//\n'.repeat(300), 'max-lines'],
  ['src/servers/health/FooBar.ts', `export const a = 1;`, 'filename-case'],
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
  ['src/gateway/ok.ts', `export { b } from '../servers/b-store.ts';`],
  ['src/api/ok.ts', `export { Hono } from 'hono';`],
  ['src/mcp/ok.ts', `export { Hono } from 'hono';`],
  ['src/shared/protocol-ok.ts', `export const a = 1;`],
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
