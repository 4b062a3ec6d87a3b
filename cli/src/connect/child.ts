/**
 * One run of a stdio MCP server as a child process: sends and receives messages, from start to end. The child leads a process group of its
 * own, so that everything it started ends with it. Knows nothing of eras and restarts nothing.
 *
 * Invariants: memory is bounded (a line, the text waiting for the child to read it, the tail of stderr); the child's output is read no
 * faster than its messages are handled; `over` settles once, and no message is delivered after it; `ended` settles when nothing of the
 * group is left, or it could not be killed in time. Source: MCP, stdio transport (2025-11-25 and 2026-07-28).
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { unwatch, watch } from '../../../local/watchdog.ts';
import { childEnvironment } from './child-environment.ts';
import { readMessage, type ChildMessage } from './child-message.ts';
import { HiddenValues, hiddenIn, passwordsIn } from './hidden-values.ts';
import type { Limits } from './limits.ts';
import { GarbageMeter, LineReader, LineTooLong } from './line-reader.ts';
import { endGroup, signalGroup } from './process-group.ts';
import { StderrTail } from './stderr-tail.ts';
import { within } from './within.ts';

/** How to start a server, as in an `mcp.json`. */
export interface ChildSpec {
  command: string;
  args?: readonly string[];
  /**
   * Added to the inherited variables; see `child-environment.ts`. All values are removed from texts for people, and secrets among them from
   * what the child sends.
   */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** More values to remove from texts for people. */
  secrets?: readonly string[];
  /** More values to remove from what the child sends. */
  hidden?: readonly string[];
}

/** Handles a message; the next one is read when it is done. */
export type Take = (message: ChildMessage) => void | Promise<void>;

export class Child {
  /** Settles with the reason, in words, when the child can send nothing more. */
  readonly over: Promise<string>;
  /** Settles when the child and everything it started are gone. */
  readonly ended: Promise<void>;
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #limits: Limits;
  readonly #take: Take;
  readonly #stderr: StderrTail;
  readonly #hidden: HiddenValues;
  readonly #garbage: GarbageMeter;
  #reason: string | undefined;
  #tellOver: (reason: string) => void = () => {};
  #tellEnded: () => void = () => {};
  #isEnding = false;
  #isOver = false;
  #lastId = 0;
  readonly #read: Promise<void>;
  readonly #readErrors: Promise<void>;

  constructor(spec: ChildSpec, limits: Limits, take: Take) {
    this.#limits = limits;
    this.#take = take;
    const { env = {}, args = [], secrets = [], hidden = [] } = spec;
    const passwords = passwordsIn([...Object.values(env), ...args]);
    const pending = [...Object.values(env), ...secrets, ...passwords];
    this.#stderr = new StderrTail(limits.stderrChars, pending);
    this.#hidden = new HiddenValues([...hiddenIn(env), ...hidden, ...passwords]);
    this.#garbage = new GarbageMeter(limits.garbageBytes, limits.garbageMs);
    this.over = new Promise(resolve => (this.#tellOver = resolve));
    this.ended = new Promise(resolve => (this.#tellEnded = resolve));
    this.#process = spawn(spec.command, [...args], {
      env: childEnvironment(process.env, env),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
    });
    const { stdin, stdout, stderr, pid } = this.#process;
    if (pid !== undefined) watch(-pid);
    // Writing to a child that is gone fails; its end is noticed separately.
    stdin.on('error', () => {});
    stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk)).on('error', () => {});
    this.#readErrors = new Promise(resolve => stderr.once('close', resolve));
    this.#process.on('error', error => {
      if (this.#process.pid === undefined) void this.#end(`cannot be started: ${error.message}`);
    });
    this.#process.once('exit', (code, signal) => {
      const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
      void this.#end(how);
    });
    this.#read = this.#readAll(stdout);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Lines so far that were not messages. */
  get garbageLines(): number {
    return this.#garbage.lines;
  }

  /** Returns an id that no other request of this run has. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /**
   * Writes one message. @param text JSON without line ends
   * @returns false where it was not sent, because the run is over or the child does not read
   */
  send(text: string): boolean {
    const { stdin } = this.#process;
    if (this.#reason !== undefined || !stdin.writable) return false;
    if (stdin.writableLength > this.#limits.inputBytes) return false;
    // JSON has no need of line ends, but a client may have written some.
    stdin.write(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`);
    return true;
  }

  /** The end of stderr, without secrets. */
  stderrTail(maxChars?: number): string {
    return this.#stderr.last(maxChars);
  }

  /** Ends the run as the protocol specifies: end of input, SIGTERM, SIGKILL. */
  async stop(reason: string): Promise<void> {
    this.#reason ??= reason;
    this.#process.stdin.end();
    const timer = setTimeout(() => void this.#end(reason), this.#limits.closeMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** Kills at once, for a process that is about to exit itself. */
  kill(): void {
    signalGroup(this.#process, 'SIGKILL');
  }

  async #readAll(stdout: Readable): Promise<void> {
    const lines = new LineReader(this.#limits.lineBytes);
    try {
      for await (const chunk of stdout as AsyncIterable<Buffer>) {
        const wrong = await this.#takeChunk(lines, chunk);
        // Record the reason before the output is closed, since closing it may itself kill the child.
        if (wrong !== undefined) return void this.#end(wrong);
      }
    } catch {
      return void this.#end('broke off its output');
    }
    // A child that exits closes its output too; its exit code, which follows, is a better reason.
    setTimeout(() => void this.#end('closed its output'), this.#limits.closeMs).unref();
  }

  /** @returns what is wrong with the output, if anything */
  async #takeChunk(lines: LineReader, chunk: Buffer): Promise<string | undefined> {
    try {
      for (const line of lines.push(chunk)) {
        const message = line === '' ? undefined : readMessage(this.#hidden.without(line));
        if (message) {
          const taken = this.#isOver ? undefined : this.#take(message);
          if (taken) await taken;
        } else if (this.#garbage.add(Buffer.byteLength(line) + 1, Date.now())) {
          return 'wrote too much output that is not a protocol message';
        }
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error;
      return `wrote a line longer than ${this.#limits.lineBytes} bytes`;
    }
  }

  /** Kills what is left of the group. Output written before is still read, unless that takes too long. */
  async #end(reason: string): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#reason ??= reason;
    const { closeMs, graceMs } = this.#limits;
    const gone = endGroup(this.#process, graceMs);
    await within(Promise.all([this.#read, this.#readErrors]), closeMs);
    this.#isOver = true;
    const { stdin, stdout } = this.#process;
    stdin.destroy();
    stdout.destroy();
    this.#tellOver(this.#stderr.clean(this.#reason));
    await gone;
    if (this.pid !== undefined) unwatch(-this.pid);
    this.#process.stderr.destroy();
    this.#tellEnded();
  }
}
