/** A reason to stop that the user reads: one line that says what happened and how to go on. */
export class DeployError extends Error {
  /** 2 where an option or the environment is not right, 1 for everything else. */
  readonly exitCode: 1 | 2;

  constructor(line: string, exitCode: 1 | 2 = 1) {
    super(line);
    this.name = 'DeployError';
    this.exitCode = exitCode;
  }
}
