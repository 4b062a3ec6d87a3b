/** Errors for the user: one clear line, no stack. */

/** A reason not to start, or to stop, that the user can act on. */
export class StartError extends Error {
  /** 2 for an invalid command line or environment, 1 for everything else. */
  readonly exitCode: 1 | 2;

  constructor(line: string, exitCode: 1 | 2 = 1) {
    super(line);
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}

/** Returns the first line of an error's message. */
export function toLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
