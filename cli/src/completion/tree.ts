/** The commands of a program with their words, for completion: read from commander, so that no list has to be kept. Pure. */
import type { Command } from 'commander';

export interface Word {
  text: string;
  description: string;
}

export interface CommandWords {
  /** The words that lead to it: `portico servers add`. */
  path: string;
  words: Word[];
  /** Values of its options that have only some. */
  choices: { option: string; values: readonly string[] }[];
}

/** The command below another that is meant where none is named. */
const USUAL = 'list';

/** A command and all below it, each once. */
export function readTree(command: Command, path = command.name()): CommandWords[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  // What is done where no command below is named: its options go without its name too.
  const usual = command.commands.find(each => each.name() === USUAL);
  const options = [...(usual ? usual.options : []), ...help.visibleOptions(command)];
  const values = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map(text => ({ text, description })),
  );
  const words = [
    ...values,
    ...commands.map(each => ({
      text: each.name(),
      description: each.summary() || each.description(),
    })),
    ...options.map(({ long, short, description }) => ({ text: long ?? short ?? '', description })),
  ].filter(({ text }) => text !== '');
  const choices = options.flatMap(({ long, argChoices }) =>
    long && argChoices ? [{ option: long, values: argChoices }] : [],
  );
  const below = commands
    .filter(each => each.name() !== 'help')
    .flatMap(each => readTree(each, `${path} ${each.name()}`));
  return [{ path, words, choices }, ...below];
}
