/**
 * Ends what this process has started when it is killed so that it cannot do so itself (SIGKILL, out of memory): a shell in a group of
 * its own holds the other end of a pipe, is told of each process that begins and ends, and reads the end of the pipe when this
 * process is gone. On Windows there is no watchdog.
 */
import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** `+ 12` begins a process, `+ -12` a group, `- 12` ends one. What is left gets SIGTERM, and two seconds later SIGKILL. */
const SCRIPT = `
left=' '
while read -r change id; do
  case $change in
    +) left="$left$id " ;;
    -) left="\${left%% $id *} \${left#* $id }" ;;
  esac
done
for id in $left; do kill -s TERM -- "$id"; done 2>/dev/null
[ "$left" = ' ' ] || sleep 2
for id in $left; do kill -s KILL -- "$id"; done 2>/dev/null
`;

let watchdog: ChildProcessByStdio<Writable, null, null> | undefined;

/** Watch over a process until `unwatch`. @param id that of a process, or less than 0 for the group that it leads */
export function watch(id: number): void {
  if (process.platform === 'win32') return;
  watchdog ??= startWatchdog();
  watchdog.stdin.write(`+ ${id}\n`);
}

/** It is gone: its number may be another's soon. */
export function unwatch(id: number): void {
  watchdog?.stdin.write(`- ${id}\n`);
}

/** Ids of the children of this process that run a program; none where the system does not tell. */
export function findChildren(program: string): number[] {
  return listChildren().flatMap(({ id, command }) => (command.endsWith(program) ? [id] : []));
}

interface Child {
  id: number;
  command: string;
}

/** Linux has them in files; elsewhere `ps` is asked, which takes 30 ms. */
function listChildren(): Child[] {
  const list = readIfThere(`/proc/self/task/${process.pid}/children`);
  if (list !== undefined) {
    const ids = list.trim().split(' ').map(Number);
    return ids.map(id => ({ id, command: readIfThere(`/proc/${id}/comm`)?.trimEnd() ?? '' }));
  }
  try {
    const text = execFileSync('ps', ['-axo', 'pid=,ppid=,comm='], { encoding: 'utf8' });
    return text.split('\n').flatMap(line => {
      const [id, parent, ...command] = line.trim().split(/ +/);
      return Number(parent) === process.pid ? [{ id: Number(id), command: command.join(' ') }] : [];
    });
  } catch {
    return [];
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
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
