/** Which line of a program's error output explains why it ended. */
import { expect, it } from 'vitest';
import { toSaid } from '../../../cli/src/connect/error-text.ts';

it('[SEC-2] [UP-5] shows the line without the password of an address', () => {
  const address = (userinfo: string) => `Error: no answer from postgres://${userinfo}@db:5432/app`;
  expect(toSaid(address('user:hunter2'))).toBe(address('[redacted]'));
  const long = `Error: ${'x'.repeat(480)} postgres://user:hunter2-and-more@db`;
  expect(toSaid(long)).not.toContain('hunter2');
});

it.each([
  [
    'Node',
    `node:internal/modules/cjs/loader:1478
  throw err;
  ^

Error: Cannot find module '/srv/nowhere.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1475:15)
    at node:internal/main/run_main_module:33:47 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v24.21.0`,
    "Error: Cannot find module '/srv/nowhere.js'",
  ],
  [
    'Node, with a code',
    `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'\n    at y (z)`,
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'",
  ],
  [
    'Python',
    `Traceback (most recent call last):
  File "server.py", line 1, in <module>
    import nothing
ModuleNotFoundError: No module named 'nothing'`,
    "ModuleNotFoundError: No module named 'nothing'",
  ],
  [
    'npm',
    `npm error code E404
npm error 404 Not Found - GET https://npm.example/x - Not found
npm error 404
npm error A complete log of this run can be found in: x-debug-0.log`,
    'npm error 404 Not Found - GET https://npm.example/x - Not found',
  ],
  [
    'Rust',
    `thread 'main' panicked at src/main.rs:2:5:\nboom`,
    "thread 'main' panicked at src/main.rs:2:5:",
  ],
  ['a shell', 'starting\nsh: 1: nothing: not found\n', 'sh: 1: nothing: not found'],
  ['nobody', ' \n ', ''],
])('[CLI-1] %s', (_who, text, line) => {
  expect(toSaid(text)).toBe(line);
});
