/** Errors that the user reads: one clear line, no stack. */

/** A reason not to start that the user can do something about. */
export class StartError extends Error {
  /** 2 for a wrong command line or admin token, 1 for everything else. */
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
