/** `portico client`: writes the gateway into the configuration of a host, or removes it. */
import { Argument, Option, type Command } from 'commander';
import { HOSTS } from '../client/hosts.ts';
import { runAdd } from '../client/run-add.ts';
import { runList } from '../client/run-list.ts';
import { runRemove } from '../client/run-remove.ts';
import { shown } from '../gateway/api-command.ts';

const HELP = `
Examples:
  portico client list
  portico client add cursor --dry-run
  portico client add claude-code
  portico client remove cursor`;

const ADD_HELP = `
The client gets a token of its own, which lists and calls tools and administers
nothing; with a token that may make none, it gets that one. What the file was is
kept beside it (.before-portico). --scope project writes .mcp.json in this
folder without a token: each person sets PORTICO_CLIENT_TOKEN.

Examples:
  portico client add vscode
  portico client add codex --url https://mcp.example.com/mcp/servers/github
  portico client add claude-code --scope project`;

const REMOVE_HELP = `
The token that was made for it is revoked. What the file was is kept beside it.

Example:
  portico client remove cursor`;

const IDS = HOSTS.map(({ id }) => id);

/** Adds `client`. */
export function addClient(program: Command): void {
  const client = program
    .command('client')
    .summary('write the gateway into Claude Code, Cursor, VS Code, …')
    .description('Write the gateway into the configuration of a client, or take it out.')
    .addHelpText('after', HELP);
  const which = () => new Argument('<client>', 'which one').choices(IDS);
  const named = (command: Command) =>
    command.option('--name <name>', 'what the gateway is called there', 'portico');
  const scoped = (command: Command) =>
    named(command).addOption(
      new Option('--scope <scope>', 'of claude-code: all that you do, or this folder')
        .choices(['user', 'project'])
        .default('user'),
    );
  const list = client
    .command('list', { isDefault: true })
    .description('List the clients, which have the gateway, and whether it takes their token.');
  named(list).option('--json', 'print JSON for programs').action(runList);
  const add = client
    .command('add')
    .addArgument(which())
    .description('Write the gateway into the configuration of a client.')
    .addHelpText('after', ADD_HELP);
  scoped(add)
    .option('--principal <id>', 'whose the new token is, else a new one')
    .option('--replace', 'in place of another server of the name')
    .option('--dry-run', 'show what would change, and change nothing');
  shown(add).action(runAdd);
  const remove = client
    .command('remove')
    .addArgument(which())
    .description('Take the gateway out of the configuration of a client.')
    .addHelpText('after', REMOVE_HELP);
  scoped(remove).option('--dry-run', 'show what would change, and change nothing');
  shown(remove).action(runRemove);
}
