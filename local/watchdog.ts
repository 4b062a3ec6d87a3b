/**
 * Ends the processes that this process started, if it is killed and cannot do so itself (SIGKILL, out of memory). A shell in its own
 * process group reads a pipe from this process, on which it learns of each process that begins and ends; the pipe ends when this process is
 * gone. On Windows there is no watchdog.
 */
import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** `+ 12` adds a process, `+ -12` a group, `- 12` removes one. What is left gets SIGTERM, and two seconds later SIGKILL. */
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

/** Watches a process until `unwatch`. @param id of a process, or its negative for the group that it leads */
export function watch(id: number): void {
  if (process.platform === 'win32') return;
  watchdog ??= startWatchdog();
  watchdog.stdin.write(`+ ${id}\n`);
}

/** Stops watching a process that has ended: its id may soon be another's. */
export function unwatch(id: number): void {
  watchdog?.stdin.write(`- ${id}\n`);
}

/** Returns the pids of this process's children that run a program; none if the system does not list them. */
export function findChildren(program: string): number[] {
  return listChildren().flatMap(({ id, command }) => (command.endsWith(program) ? [id] : []));
}

interface Child {
  id: number;
  command: string;
}

/** Linux lists children in files; elsewhere `ps` is run, which takes 30 ms. */
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

/** The shell survives a signal to this process's group, and does not keep this process alive. */
function startWatchdog(): ChildProcessByStdio<Writable, null, null> {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
  });
  // Without the shell, children end only by the end of their input.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.once('exit', () => {
    if (watchdog === shell) watchdog = undefined;
  });
  shell.unref();
  (shell.stdin as Writable & { unref?(): void }).unref?.();
  return shell;
}
