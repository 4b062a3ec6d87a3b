/** How a command ends that cannot do its work: one line on standard error, and an exit code. */
import { CommanderError } from 'commander';
import { visible } from './output/table.ts';

/** Exit codes of every command: 0 done, 1 failed, 2 wrong usage, 3 not allowed, 4 not found, 5 judged and refused. */
export const EXIT = { failed: 1, usage: 2, denied: 3, notFound: 4, refused: 5 } as const;

const CLOSED_OUTPUT = 141;
const isClosedOutput = (error: unknown) => (error as { code?: unknown } | null)?.code === 'EPIPE';

/** A problem that the user can solve; `message` says how. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A response of an unexpected shape made the code throw; errors that Node itself throws have a code or a cause. */
const isUnforeseen = (error: unknown): error is TypeError =>
  error instanceof TypeError && !('code' in error) && error.cause === undefined;
const IF_UNFORESEEN = 'is --url a Portico gateway of this version? see portico doctor';

const toLine = (message: string): string =>
  message
    .split('\n')
    .map(part => part.trim())
    .filter((part, at, parts) => part !== '' || at === 0 || at === parts.length - 1)
    .join(' ');

/** Writes the reason in one line. @returns the exit code */
export function reportFailure(error: unknown, to: { write(text: string): unknown }): number {
  // For help and version nothing is wrong; for a usage error commander has already written the message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  // The reader of the output is gone; other tools end by a signal then, with this code.
  if (isClosedOutput(error)) return CLOSED_OUTPUT;
  const message = isUnforeseen(error)
    ? `unexpected response (${error.message}); ${IF_UNFORESEEN}`
    : error instanceof Error
      ? error.message
      : String(error);
  to.write(`portico: ${visible(toLine(message))}\n`);
  const { exitCode } = error as { exitCode?: unknown };
  return typeof exitCode === 'number' ? exitCode : EXIT.failed;
}
