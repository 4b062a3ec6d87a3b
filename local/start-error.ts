/** A reason not to start that the user can do something about: one clear line, no stack, an exit code. */
export class StartError extends Error {
  /** 2 for a wrong command line or setting, 1 for everything else. */
  readonly exitCode: 1 | 2;

  constructor(line: string, exitCode: 1 | 2 = 1) {
    super(line);
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}
