/**
 * The one place that writes to standard output: data and nothing else, so that a program can read it. What is meant for
 * people only goes to standard error. Lint refuses `console` and `process.stdout` everywhere else in the command line.
 */

/** Write data. Resolves when the reader has taken it, so that nothing piles up; rejects where the reader is gone. */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, error => (error ? reject(error) : resolve()));
  });
}

/** Write a value for programs. */
export function writeJson(value: unknown): Promise<void> {
  return writeOut(`${JSON.stringify(value, null, 2)}\n`);
}

/** Say one line to people, on standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Columns of the terminal that data goes to; undefined where it goes elsewhere. */
export function outputColumns(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/** Call `onGone` when the reader of standard output goes away; nothing is thrown then. */
export function watchOutput(onGone: () => void): void {
  process.stdout.on('error', onGone);
}
