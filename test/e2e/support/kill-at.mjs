/**
 * Preloaded into a process by `--import`: kills it (SIGKILL) right before a file operation that KILL_AT names: `write:3` is before its
 * third write. Opening a file for reading does not count.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [step, at] = (process.env['KILL_AT'] ?? '').split(':');
let count = 0;

for (const api of [fs, fs.promises]) {
  const own = api[step];
  if (typeof own !== 'function') continue;
  api[step] = function (...args) {
    if (step !== 'open' || /[wa+]/.test(String(args[1])) || typeof args[1] === 'number') count += 1;
    if (count === Number(at)) process.kill(process.pid, 'SIGKILL');
    return Reflect.apply(own, this, args);
  };
}
syncBuiltinESMExports();
