/**
 * What `npm start` says while it works: one line for each step, with its time. On a terminal the step under way is shown
 * too, and there are colours; elsewhere, or with NO_COLOR, the lines are plain and only ever added to.
 */
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Steps {
  /** Do a piece of work under a name; `done` makes the line from its result. A failure leaves no line and is thrown on. */
  run<T>(name: string, work: () => Promise<T>, done?: (result: T) => string): Promise<T>;
  /** Something the user should know that stops nothing. */
  warn(line: string): void;
  /** A text as it is, with a line break. */
  say(text: string): void;
  /** Text in a style, where styles are shown. */
  style(style: Style, text: string): string;
}

/** Steps written to a stream. */
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
