/** The `portico` command: what each command does is in `commands/`. */
import { Command } from 'commander';
import { COMMANDS } from './commands/all.ts';
import { reportFailure } from './failure.ts';
import { watchOutput } from './terminal.ts';

const program = new Command('portico')
  .description('One URL and one token in front of all MCP servers of a team.')
  .version('0.1.0')
  .showHelpAfterError('(see --help)')
  // What stands after the name of a tool is the tool's.
  .enablePositionalOptions()
  .exitOverride();
for (const add of COMMANDS) add(program);

// Whoever read the output may stop: `portico tools | head`. The write that fails then says so.
watchOutput(() => {});
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error, process.stderr);
}
