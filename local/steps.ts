/**
 * The progress output of `npm start`: one line for each step, with its duration. On a terminal the current step is shown too, and there are
 * colours. Elsewhere, or with NO_COLOR, lines are plain and only appended.
 */
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Steps {
  /** Runs a named piece of work; `done` makes the line from its result. A failure is rethrown and leaves no line. */
  run<T>(name: string, work: () => Promise<T>, done?: (result: T) => string): Promise<T>;
  /** Shows a warning, which stops nothing. */
  warn(line: string): void;
  /** Prints a text unchanged, with a line break. */
  say(text: string): void;
  /** Returns text in a style, if styles are shown. */
  style(style: Style, text: string): string;
}

/** Creates steps that write to a stream. */
export function createSteps(stream: NodeJS.WriteStream): Steps {
  const style: Steps['style'] = (kind, text) => styleText(kind, text, { stream });
  const isLive = stream.isTTY && style('bold', 'x') !== 'x';
  const clear = (): void => void (isLive && stream.write('\r\u001B[K'));
  return {
    style,
    async run(name, work, done = () => name) {
      const startedAt = performance.now();
      if (isLive) stream.write(style('dim', `… ${name}`));
      try {
        const result = await work();
        const seconds = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
        clear();
        stream.write(`${style('green', '✓')} ${done(result)}  ${style('dim', seconds)}\n`);
        return result;
      } catch (error) {
        clear();
        throw error;
      }
    },
    warn: line => void stream.write(`${style('yellow', '!')} ${line}\n`),
    say: text => void stream.write(`${text}\n`),
  };
}
