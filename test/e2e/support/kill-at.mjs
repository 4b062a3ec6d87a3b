/**
 * Put before a process by `--import`: kills it (SIGKILL) in front of something that it does to files, as KILL_AT says: `write:3` is in front
 * of its third write. To open a file for reading counts as nothing.
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
