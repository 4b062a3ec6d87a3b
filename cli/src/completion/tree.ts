/** Reads the commands of a program and their words from commander, so that completion needs no list of its own. Pure. */
import type { Command, Option } from 'commander';

export interface Word {
  text: string;
  description: string;
  /** What value an option takes; absent where it takes none. */
  takes?: 'file' | 'text';
}

export interface CommandWords {
  /** The words that call it: `portico servers add`. */
  path: string;
  words: Word[];
  /** Whether an argument is a file name. */
  takesFile: boolean;
  /** Allowed values of options that have a fixed set. */
  choices: { option: string; values: readonly string[] }[];
}

/** Names of arguments that are a file or folder. */
const FILE = /file|folder|dir\b/;
/** The subcommand that runs where none is named. */
const USUAL = 'list';

/** Returns a command and all commands below it, each once. */
export function readTree(command: Command, path = command.name()): CommandWords[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const given = command.registeredArguments;
  // The default subcommand: its options are accepted without its name too.
  const usual = command.commands.find(each => each.name() === USUAL && given.length === 0);
  const all = [...(usual ? usual.options : []), ...help.visibleOptions(command)];
  const options = [...new Map(all.map(option => [option.long ?? option.short, option])).values()];
  const values = given.flatMap(({ argChoices = [], description }) =>
    argChoices.map(text => ({ text, description })),
  );
  const words = [
    ...values,
    ...commands.map(each => ({
      text: each.name(),
      description: each.summary() || each.description(),
    })),
    ...options.map(option => ({
      text: option.long ?? option.short ?? '',
      description: option.description,
      ...takenBy(option),
    })),
  ].filter(({ text }) => text !== '');
  const choices = options.flatMap(({ long, argChoices }) =>
    long && argChoices ? [{ option: long, values: argChoices }] : [],
  );
  const below = commands
    .filter(each => each.name() !== 'help')
    .flatMap(each => readTree(each, `${path} ${each.name()}`));
  const takesFile = given.some(argument => FILE.test(argument.name()));
  return [{ path, words, takesFile, choices }, ...below];
}

function takenBy({ flags, required, optional }: Option): Pick<Word, 'takes'> {
  if (!required && !optional) return {};
  return { takes: FILE.test(flags.split(' ').at(-1) ?? '') ? 'file' : 'text' };
}
