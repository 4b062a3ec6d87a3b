/** The tree of all commands. */
import { Command } from 'commander';
import { nearestName } from '../../src/shared/util/nearest-name.ts';
import { COMMANDS } from './commands/all.ts';

const HELP = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not allowed, 4 not found,
5 refused by portico ask.

Examples:
  portico up --config mcp.json
  portico tools
  portico call everything.echo --message hi
  portico doctor`;

/** Builds the program; nothing runs until it parses a command line. */
export function createProgram(): Command {
  const program = new Command('portico')
    .description('One URL and one token in front of all MCP servers of a team.')
    .version('0.1.0')
    .showHelpAfterError('(see --help)')
    // Options after the name of a tool belong to the tool.
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText('after', HELP);
  for (const add of COMMANDS) add(program);
  for (const group of program.commands) checkVerb(group);
  program.helpCommand(false);
  program
    .command('help')
    .argument('[command...]')
    .description('display help for command')
    .action((names: string[]) => void findCommand(program, names).help());
  return program;
}

/** Refuses a misspelt verb, which would otherwise be an argument too many for the default verb `list`. */
function checkVerb({ commands }: Command): void {
  const list = commands.find(each => each.name() === 'list');
  list?.allowExcessArguments().hook('preAction', () => {
    const [typed] = list.args;
    if (typed === undefined) return;
    const near = nearestName(
      typed,
      commands.map(each => each.name()),
    );
    const hint = near === undefined ? '' : `\n(Did you mean ${near}?)`;
    list.error(`error: unknown command '${typed}'${hint}`);
  });
}

/** Finds the command of these names; ends the program where there is none. */
function findCommand(program: Command, names: readonly string[]): Command {
  let found = program;
  for (const name of names) {
    const next = found.commands.find(each => [each.name(), ...each.aliases()].includes(name));
    found = next ?? found.error(`error: unknown command '${names.join(' ')}'`);
  }
  return found;
}
