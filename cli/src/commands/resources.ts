/**
 * `portico connectors`, `rules`, `principals`, `groups`, `toolsets` and `secrets`, and the common verbs of `portico servers`: list, show,
 * add, edit and remove work alike for all (`resources/resources.ts` defines each). The value of a secret comes from standard input or the
 * environment, never from an argument, which others can read.
 */
import type { Command } from 'commander';
import {
  editRecord,
  listRecords,
  makeRecord,
  putValue,
  removeRecord,
  showRecord,
} from '../resources/act.ts';
import { shown } from '../gateway/api-command.ts';
import { toOption } from '../resources/body.ts';
import { editedFieldsOf, type Field, type Resource } from '../resources/resource.ts';
import { RESOURCES } from '../resources/resources.ts';

const FROM = ['--from <file>', 'more fields, as JSON; - for standard input'] as const;

const ADD_HELP = `
The JSON has the fields of the API, which /docs on the gateway describes. An
option overrides the same field in the JSON.
`;

const EDIT_HELP = `
Fields that are not given stay; a list replaces the former one. In the JSON null
clears a field, and a list may be empty.
`;

const SET_HELP = `
The value is read from standard input or --from-env, and never shown again.
Servers refer to it by its name, like \${NAME}; in a --header of portico servers
write $\${NAME}.
`;

/** Adds one command for each resource. */
export function addResources(program: Command): void {
  for (const resource of RESOURCES) addResource(program, resource);
}

/** @returns the command, so that more verbs can be added */
export function addResource(program: Command, resource: Resource): Command {
  const { name, noun, called = name, written, example, removal } = resource;
  const verbs = VERBS[written];
  const lines = ['', `show ${example.id}`, ...(example.new ?? []).slice(0, 1)];
  const all = program
    .command(name)
    .summary(`${verbs} ${called}`)
    .description(`${verbs[0]?.toUpperCase()}${verbs.slice(1)} ${called}.`)
    .addHelpText('after', examplesOf(resource, lines));
  const by = BY[written];
  shown(all.command('list', { isDefault: true }).description(`List the ${name}.`)).action(options =>
    listRecords(resource, options),
  );
  shown(all.command(`show <${noun}>`).description(`Show ${a(noun)}, by ${by}.`))
    .addHelpText('after', examplesOf(resource, [`show ${example.id}`]))
    .action((id, options) => showRecord(resource, id, options));
  if (written === 'derived') return all;
  if (written === 'value') addSet(all, resource);
  if (written === 'records' || written === 'named') addEdits(all, resource, written === 'named');
  const after = removal === undefined ? '' : `\n${removal}\n`;
  shown(all.command(`remove <${noun}>`).description(`Remove ${a(noun)}, by ${by}.`))
    .addHelpText('after', `${after}${examplesOf(resource, [`remove ${example.id}`])}`)
    .action((id, options) => removeRecord(resource, id, options));
  return all;
}

const VERBS = {
  records: 'list, show and change',
  named: 'list, show and change',
  value: 'list, show and change',
  elsewhere: 'list, show and remove',
  derived: 'list and show',
} as const;

/** How a record is named on the command line. */
const BY = {
  records: 'its id',
  named: 'its name or id',
  value: 'its name',
  elsewhere: 'its name or id',
  derived: 'its name',
} as const;

/** Adds `set`, for values that are never shown. */
function addSet(all: Command, resource: Resource): void {
  const { noun, fields, example } = resource;
  const set = all.command('set <name>').description(`Create ${a(noun)}, or change its value.`);
  const lines = [
    `set ${example.id} --origin https://mcp.example.com < token.txt`,
    `set ${example.id} --from-env NEW_TOKEN`,
  ];
  withFields(shown(set), fields)
    .option('--from-env <name>', 'environment variable with the value')
    .addHelpText('after', `${SET_HELP}${examplesOf(resource, lines)}`)
    .action((name, options) => putValue(resource, name, options));
}

function addEdits(all: Command, resource: Resource, isNamed: boolean): void {
  const { noun, fields, example } = resource;
  const words = isNamed ? ['add <name>', `add ${example.id}`] : ['add', 'add'];
  const add = all.command(words[0] ?? '').description(`Create ${a(noun)}.`);
  const made = [...(example.new ?? []), `${words[1]} --from ${noun}.json`];
  withFields(shown(add), fields)
    .option(...FROM)
    .addHelpText('after', `${ADD_HELP}${examplesOf(resource, made)}`)
    .action((...given: unknown[]) =>
      makeRecord(resource, isNamed ? String(given[0]) : undefined, add.opts()),
    );
  const edit = all
    .command(`edit <${noun}>`)
    .description(`Change ${a(noun)}, by ${BY[isNamed ? 'named' : 'records']}.`);
  const edits = [example.edit ?? '', `--from - <<< '${example.json ?? ''}'`];
  withFields(shown(edit), editedFieldsOf(resource))
    .option(...FROM)
    .addHelpText(
      'after',
      `${EDIT_HELP}${examplesOf(
        resource,
        edits.map(line => `edit ${example.id} ${line}`),
      )}`,
    )
    .action((id, options) => editRecord(resource, id, options));
}

function withFields(command: Command, fields: readonly Field[]): Command {
  for (const field of fields) command.addOption(toOption(field));
  return command;
}

/** A noun with its article. */
const a = (noun: string): string => `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** Formats example command lines for a help text. */
function examplesOf({ name }: Resource, lines: readonly string[]): string {
  const all = lines.map(line => `\n  portico ${name} ${line}`.trimEnd());
  return `\nExample${lines.length > 1 ? 's' : ''}:${all.join('')}`;
}
