/** The `portico` command: what each command does is in `commands/`. */
import { reportFailure } from './failure.ts';
import { createProgram } from './program.ts';
import { watchOutput } from './terminal.ts';

// Whoever read the output may stop: `portico tools | head`. The write that fails then says so.
watchOutput(() => {});
try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error, process.stderr);
}
