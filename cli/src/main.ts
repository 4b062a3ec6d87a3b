/** Entry point of the `portico` command; the commands are in `commands/`. */
import { reportFailure } from './failure.ts';
import { createProgram } from './program.ts';
import { watchOutput } from './terminal.ts';

// The reader of the output may stop early (`portico tools | head`); the failing write reports it.
watchOutput(() => {});
try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error, process.stderr);
}
