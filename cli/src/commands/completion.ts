/** `portico completion`: prints a script that completes this command's words in a shell. */
import { Argument, type Command } from 'commander';
import { toBash, toFish, toZsh } from '../completion/scripts.ts';
import { readTree } from '../completion/tree.ts';
import { writeOut } from '../terminal.ts';

const SCRIPTS = { bash: toBash, zsh: toZsh, fish: toFish } as const;

const HELP = `
Examples:
  eval "$(portico completion bash)"   # in ~/.bashrc
  eval "$(portico completion zsh)"    # in ~/.zshrc, after compinit
  portico completion fish > ~/.config/fish/completions/portico.fish`;

/** Adds `completion`. */
export function addCompletion(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .summary('print a completion script for a shell')
    .description('Print a completion script for a shell.')
    .addHelpText('after', HELP)
    .action((shell: keyof typeof SCRIPTS) => writeOut(SCRIPTS[shell](readTree(program))));
}
