/** Errors that the user reads: one clear line, no stack. */

/** A reason not to start, or to stop, that the user can do something about. */
export class StartError extends Error {
  /** 2 where the command line or the environment is not right, 1 for everything else. */
  readonly exitCode: 1 | 2;

  constructor(line: string, exitCode: 1 | 2 = 1) {
    super(line);
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}

/** The first line of what an error says. */
export function toLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
