/** The tools of a desktop server, as named in the report on an integration system: real files and processes, in a folder. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import * as files from 'node:fs';
import { join } from 'node:path';

/** The failure of a tool: a JSON-RPC error. */
export class ToolError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The contents of a session. */
export interface DesktopSession {
  id: string;
  processes: Map<number, { child: ChildProcess; output: string }>;
  searches: Map<number, string[]>;
}

type Given = Record<string, string | number | undefined>;
type Tool = (given: Given, session: DesktopSession) => unknown;

const HOLD_MS = 5_000;

/** Waits for output of a process; returns at its exit, or after a while. */
const heard = (child: ChildProcess) =>
  new Promise<void>(resolve => {
    const timer = setTimeout(resolve, HOLD_MS);
    const end = () => (clearTimeout(timer), resolve());
    child.stdout?.once('data', end);
    child.once('close', end);
  });

/** Ends a process with everything that it started; does nothing if it has exited. */
export function endGroup(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-Number(child.pid), 'SIGKILL');
}

/** Returns all tools by name. @param config the result of `get_config` */
export function desktopTools(folder: string, config: Record<string, unknown>) {
  const at = (given: Given, name = 'path') => join(folder, String(given[name] ?? ''));
  const processOf = ({ pid }: Given, { processes }: DesktopSession) => {
    const found = processes.get(Number(pid));
    if (!found) throw new ToolError(-32001, `Process not found: ${pid}`);
    return found;
  };
  const found = ({ name_pattern: pattern, query }: Given) =>
    files.readdirSync(folder).filter(name => {
      if (pattern !== undefined) return name.includes(String(pattern));
      const path = join(folder, name);
      const isText = files.statSync(path).isFile();
      return [name, isText ? files.readFileSync(path, 'utf8') : ''].some(text =>
        text.includes(String(query)),
      );
    });
  const write = async (given: Given, session: DesktopSession) => {
    const held = processOf(given, session);
    const said = heard(held.child);
    held.child.stdin?.write(String(given['input']));
    await said;
    return held.output.slice(held.output.lastIndexOf('\n', held.output.length - 2) + 1);
  };
  const start: Tool = async ({ command }, { processes }) => {
    const child = spawn(String(command), { shell: true, cwd: folder, detached: true });
    const held = { child, output: '' };
    child.stdout.on('data', chunk => (held.output += String(chunk)));
    processes.set(Number(child.pid), held);
    return child.pid;
  };
  const kill: Tool = (given, session) => {
    const { child } = processOf(given, session);
    endGroup(child);
    session.processes.delete(Number(given['pid']));
    return 'killed';
  };
  const tools: Record<string, Tool> = {
    read_file: given => files.readFileSync(at(given), 'utf8'),
    read_binary_file: given => files.readFileSync(at(given)).toString('base64'),
    write_file: given => (files.writeFileSync(at(given), String(given['content'])), 'written'),
    append_file: given => (files.appendFileSync(at(given), String(given['content'])), 'appended'),
    create_file: given => (files.writeFileSync(at(given), '', { flag: 'wx' }), 'created'),
    delete_file: given => (files.unlinkSync(at(given)), 'deleted'),
    move_file: given => (files.renameSync(at(given, 'src'), at(given, 'dest')), 'moved'),
    copy_file: given => (files.copyFileSync(at(given, 'src'), at(given, 'dest')), 'copied'),
    edit_block: given => {
      const text = files.readFileSync(at(given), 'utf8');
      const [old, now] = [String(given['old_text']), String(given['new_text'])];
      files.writeFileSync(at(given), text.replace(old, now));
      return 'edited';
    },
    list_directory: given => files.readdirSync(at(given)),
    make_directory: given => (files.mkdirSync(at(given)), 'made'),
    get_file_info: given => ({ size: files.statSync(at(given)).size }),
    search_files: found,
    start_process: start,
    read_process_output: (given, session) => processOf(given, session).output,
    write_process_input: write,
    interact_process: write,
    list_processes: (_, { processes }) => [...processes.keys()],
    kill_process: kill,
    start_search: (given, { searches }) => {
      searches.set(searches.size + 1, found(given));
      return searches.size;
    },
    get_search_results: ({ search_id: id, max_results: most }, { searches }) => {
      const rest = searches.get(Number(id));
      if (!rest) throw new ToolError(-32001, `Search not found: ${id}`);
      return rest.splice(0, Number(most));
    },
    stop_search: ({ search_id: id }, { searches }) => (searches.delete(Number(id)), 'stopped'),
    system_info: () => ({ platform: process.platform }),
    get_config: () => config,
    set_config_value: ({ key, value }) => ((config[String(key)] = value), 'set'),
    run_command: ({ command_line: line }) =>
      spawnSync(String(line), { shell: true, cwd: folder, encoding: 'utf8' }).stdout,
  };
  return tools;
}

const CODES: Readonly<Record<string, readonly [number, string]>> = {
  ENOENT: [-32001, 'File not found'],
  EACCES: [-32002, 'Access denied'],
  EISDIR: [-32002, 'Access denied'],
};

/** Converts an error of a file to the report's form. */
export function toToolError(thrown: unknown): ToolError {
  if (thrown instanceof ToolError) return thrown;
  const { code = '', message } = thrown as NodeJS.ErrnoException;
  const [number, text] = CODES[code] ?? [-32000, message];
  return new ToolError(number, text);
}
