/** `portico connectors`: the machines that offer programs; see them, and remove one that is gone. */
import type { Command } from 'commander';
import colors from 'picocolors';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { findRecord } from '../gateway/api.ts';
import { formatTable } from '../output/table.ts';
import { note, outputColumns, writeJson, writeOut } from '../terminal.ts';

interface Connector {
  id: string;
  name: string;
  status: string;
  created_at: string;
  last_seen_at: string | null;
}

const CONNECTORS = '/api/v1/connectors';

const HELP = `
Examples:
  portico connectors
  portico connectors remove laptop`;

const REMOVE_HELP = `
Its machine is sent away at once. Its servers stay registered and cannot be
reached; portico connect --enroll NAME --replace keeps them for another machine.

Example:
  portico connectors remove laptop`;

/** Adds `connectors`. */
export function addConnectors(program: Command): void {
  const connectors = program
    .command('connectors')
    .summary('list and remove the machines that offer programs')
    .description('List the machines that offer programs, or remove one.')
    .addHelpText('after', HELP);
  const all = connectors.command('list', { isDefault: true });
  shown(all.description('List the machines.')).action(list);
  const gone = connectors.command('remove <connector>');
  shown(gone.description('Remove a machine, by its name or id.').addHelpText('after', REMOVE_HELP));
  gone.action(remove);
}

async function list(options: Options): Promise<void> {
  const connectors = await apiOf(options).list<Connector>(CONNECTORS, 'connectors');
  if (options.json) return writeJson(connectors);
  if (connectors.length === 0) return note('no connectors yet; portico connect --enroll NAME');
  const rows = connectors.map(({ name, status, last_seen_at: seen }) => [
    name,
    status,
    seen ?? 'never',
  ]);
  const heading = ['NAME', 'STATUS', 'CAME OR WENT'];
  await writeOut(formatTable(heading, rows, { columns: outputColumns(), paint: colors.bold }));
}

async function remove(name: string, options: Options): Promise<void> {
  const api = apiOf(options);
  const known = await api.list<Connector>(CONNECTORS, 'connectors');
  const { id, name: found } = findRecord('connector', name, known);
  await api.json('DELETE', `${CONNECTORS}/${id}`);
  if (options.json) return writeJson({ removed: id });
  note(`connector '${found}' is removed; its servers stay until portico servers remove`);
}
