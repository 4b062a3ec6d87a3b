/** The help texts of every command fit a terminal of 80 columns. */
import { readFileSync } from 'node:fs';
import { CommanderError, type Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../cli/src/program.ts';

const COLUMNS = 80;

/** A command and all commands below it. */
const withAll = (command: Command): Command[] => [command, ...command.commands.flatMap(withAll)];

/** The help as printed, with the text after it. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: part => void (text += part),
    getOutHelpWidth: () => COLUMNS,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text;
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

const commands = withAll(createProgram());
const tooWide = (text: string) => text.split('\n').filter(line => [...line].length > COLUMNS);

describe('help', () => {
  it('[CLI-4] exists for every command', () => {
    expect(commands.length).toBeGreaterThan(25);
  });

  it.each(commands.map(command => [pathOf(command), command] as const))(
    '[CLI-4] of %s fits a terminal',
    (path, command) => {
      const text = helpOf(command);
      expect(text).toContain(`Usage: ${path}`);
      expect(tooWide(text)).toEqual([]);
    },
  );

  it('[OPS-3] of npm start fits a terminal', () => {
    const text = readFileSync(new URL('../../../local/help.txt', import.meta.url), 'utf8');
    expect(text).toMatch(/^Usage: npm /);
    expect(tooWide(text)).toEqual([]);
  });

  it('[CLI-4] is shown for a named command, and an unknown command is an error', async () => {
    const ask = async (...names: string[]) => {
      const program = createProgram();
      let said = '';
      const keep = (text: string) => void (said += text);
      for (const command of withAll(program)) {
        command.configureOutput({ writeOut: keep, writeErr: keep });
      }
      const ending = program.parseAsync(['help', ...names], { from: 'user' });
      await expect(ending).rejects.toThrow(CommanderError);
      return said;
    };
    expect(await ask('servers', 'add')).toMatch(/^Usage: portico servers add /);
    expect(await ask('nope')).toBe("error: unknown command 'nope'\n(see --help)\n");
    expect(await ask('servers', 'nope')).toBe(
      "error: unknown command 'servers nope'\n(see --help)\n",
    );
    expect(await ask()).toMatch(/^Usage: portico \[options\]/);
  });

  it.each([
    [['servers', 'conect', 'github'], "error: unknown command 'conect'\n(Did you mean connect?)\n"],
    [['token', 'make'], "error: unknown command 'make'\n"],
    [['audit', 'list', 'more'], "error: unknown command 'more'\n"],
  ])('[CLI-4] is offered for the misspelt verb of %j', async (typed, says) => {
    const program = createProgram();
    let said = '';
    for (const command of withAll(program)) {
      command.configureOutput({ writeErr: text => void (said += text) });
    }
    await expect(program.parseAsync(typed, { from: 'user' })).rejects.toThrow(CommanderError);
    expect(said).toBe(`${says}(see --help)\n`);
  });

  it('[CLI-4] explains the exit codes', () => {
    expect(helpOf(createProgram())).toMatch(/Exit codes: 0 done, 1 failed, 2 /);
  });
});
