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
The client gets its own token, which can only list and call tools. If yours is
not an admin token, the client gets yours, which must not be able to do more.
The former file is kept beside it as .before-portico. --scope project writes
.mcp.json in this folder without a token: each person sets PORTICO_CLIENT_TOKEN.

Examples:
  portico client add vscode
  portico client add codex --url https://mcp.example.com/mcp/servers/github
  portico client add claude-code --scope project`;

const REMOVE_HELP = `
The token that was created for it is revoked. The former file is kept beside it.

Example:
  portico client remove cursor`;

const IDS = HOSTS.map(({ id }) => id);

/** Adds `client`. */
export function addClient(program: Command): void {
  const client = program
    .command('client')
    .summary('add the gateway to Claude Code, Cursor, VS Code, …')
    .description('Add the gateway to the configuration of a client, or remove it.')
    .addHelpText('after', HELP);
  const which = () => new Argument('<client>', 'the client').choices(IDS);
  const named = (command: Command) =>
    command.option('--name <name>', 'name of the gateway in the client', 'portico');
  const scoped = (command: Command) =>
    named(command).addOption(
      new Option(
        '--scope <scope>',
        'for claude-code: all your folders (user), or this one (project)',
      )
        .choices(['user', 'project'])
        .default('user'),
    );
  const list = client
    .command('list', { isDefault: true })
    .description('List the clients: which have the gateway, and whether it accepts their token.');
  named(list).option('--json', 'print JSON for programs').action(runList);
  const add = client
    .command('add')
    .addArgument(which())
    .description('Add the gateway to the configuration of a client.')
    .addHelpText('after', ADD_HELP);
  scoped(add)
    .option('--principal <name>', 'principal of its token, by name or id (default: a new one)')
    .option('--replace', 'replace another server with this name')
    .option('--dry-run', 'show what would change, and change nothing');
  shown(add).action(runAdd);
  const remove = client
    .command('remove')
    .addArgument(which())
    .description('Remove the gateway from the configuration of a client.')
    .addHelpText('after', REMOVE_HELP);
  scoped(remove).option('--dry-run', 'show what would change, and change nothing');
  shown(remove).action(runRemove);
}
