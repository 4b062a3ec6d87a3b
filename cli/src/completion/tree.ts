/** The commands of a program with their words, for completion: read from commander, so that no list has to be kept. Pure. */
import type { Command, Option } from 'commander';

export interface Word {
  text: string;
  description: string;
  /** What stands behind an option; absent where nothing does. */
  takes?: 'file' | 'text';
}

export interface CommandWords {
  /** The words that lead to it: `portico servers add`. */
  path: string;
  words: Word[];
  /** Whether an argument is the name of a file. */
  takesFile: boolean;
  /** Values of its options that have only some. */
  choices: { option: string; values: readonly string[] }[];
}

/** What an argument is called that is the name of a file or folder. */
const FILE = /file|folder|dir\b/;
/** The command below another that is meant where none is named. */
const USUAL = 'list';

/** A command and all below it, each once. */
export function readTree(command: Command, path = command.name()): CommandWords[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const given = command.registeredArguments;
  // What is done where no command below is named: its options go without its name too.
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
