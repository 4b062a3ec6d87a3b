/**
 * Ends the process groups of children when this process is killed so that it cannot do so itself (SIGKILL, out of memory): a shell
 * of its own group holds the other end of a pipe, is told of each group that begins and ends, and reads the end of the pipe when this
 * process is gone. Where the platform has no groups, there is no watchdog.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Writable } from 'node:stream';

/** `+ 12` begins a group, `- 12` ends one. What is left gets SIGTERM, and two seconds later SIGKILL. */
const SCRIPT = `
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group"; done 2>/dev/null
[ "$groups" = ' ' ] || sleep 2
for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null
`;

let watchdog: ChildProcessByStdio<Writable, null, null> | undefined;

/** Watch over the group that a child leads; it is forgotten by `unwatchGroup`. */
export function watchGroup(pid: number): void {
  if (process.platform === 'win32') return;
  watchdog ??= startWatchdog();
  watchdog.stdin.write(`+ ${pid}\n`);
}

/** The group is gone: its number may be another's soon. */
export function unwatchGroup(pid: number): void {
  watchdog?.stdin.write(`- ${pid}\n`);
}

/** It outlives a signal to this process's group, and keeps this process from nothing. */
function startWatchdog(): ChildProcessByStdio<Writable, null, null> {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
  });
  // Without it children end as they did before: by the end of their input.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.once('exit', () => {
    if (watchdog === shell) watchdog = undefined;
  });
  shell.unref();
  (shell.stdin as Writable & { unref?(): void }).unref?.();
  return shell;
}
