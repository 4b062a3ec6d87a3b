/** `portico client add`: writes the gateway as a server into the configuration of a host, with a token of the host's own. */
import { EXIT, Failure } from '../failure.ts';
import { readGatewayUrl, toMcpUrl } from '../gateway-options.ts';
import type { ApiOptions } from '../gateway/api-command.ts';
import { askLine, isTerminal, note, writeJson, writeOut } from '../terminal.ts';
import { changesOf, isSame, toConfigured, withServer } from './configured.ts';
import { readConfiguration, writeConfiguration } from './files.ts';
import { findGiver, SHARED_TOKEN } from './giver.ts';
import { openPlace, whole, type Place, type PlaceOptions } from './place.ts';

export interface AddOptions extends PlaceOptions, ApiOptions {
  principal?: string;
  replace?: boolean;
  dryRun?: boolean;
}

export async function runAdd(id: string, options: AddOptions): Promise<void> {
  const place = await openPlace(id, options);
  const { host, name, file, found } = place;
  const { href: url } = endpointOf(options);
  const entryWith = (token: string) => host.entry.toEntry(url, `Bearer ${token}`);
  const configuredWith = (token: string) => toConfigured(host.entry, name, entryWith(token));
  const giver = await findGiver(place, options);
  const told = { client: host.id, file, name, url };

  if (found && giver.isGood && isSame(found, configuredWith(found.token ?? ''))) {
    if (options.json) return writeJson({ ...told, outcome: 'unchanged' });
    return note(`${host.title} is already set up: '${name}' in ${file}`);
  }
  const planned = place.isShared ? SHARED_TOKEN : 'A_NEW_TOKEN';
  // Finds out that the file cannot be edited before a token is made.
  whole(file, () => withServer(host.entry, place.text, name, entryWith(planned)));
  const changes = changesOf(found, configuredWith(planned));
  if (!options.json) await writeOut([file, ...changes].map(line => `${line}\n`).join(''));
  if (options.dryRun) {
    if (options.json) return writeJson({ ...told, outcome: 'planned', changes });
    return note('nothing is changed yet; run it without --dry-run');
  }
  if (found) await confirmReplacing(place, options);

  const { value, made } = await giver.give();
  let backup: string | undefined;
  try {
    backup = await write(place, entryWith(value));
  } catch (error) {
    if (made) await giver.drop(made);
    throw error;
  }
  if (giver.former) await giver.drop(giver.former);
  if (options.json) {
    const outcome = found ? 'replaced' : 'added';
    const token = made ? { id: made.id, name: made.name } : null;
    return writeJson({ ...told, outcome, changes, token, backup: backup ?? null });
  }
  if (backup !== undefined) note(`the former file is kept as ${backup}`);
  if (place.isShared) note('everybody who works here sets PORTICO_CLIENT_TOKEN to their own token');
  const which = made ? ` with the token '${made.name}'` : '';
  note(`${host.title} has '${name}'${which}; ${host.next}`);
}

/** Unless the URL chooses a naming style, use the one that every host accepts. */
function endpointOf(options: AddOptions): URL {
  const endpoint = toMcpUrl(readGatewayUrl(options, process.env));
  if (!endpoint.searchParams.has('names')) endpoint.searchParams.set('names', 'underscore');
  return endpoint;
}

async function confirmReplacing({ host, name, file }: Place, options: AddOptions): Promise<void> {
  if (options.replace) return;
  const what = `${host.title} has another '${name}' in ${file}`;
  if (options.json || !isTerminal()) {
    throw new Failure(`${what}; add --replace to replace it`, EXIT.usage);
  }
  const answer = await askLine(`${what}; replace it? (y/N) `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new Failure('nothing was changed');
}

/** Reads the file again before writing, since the host may have changed it meanwhile. @returns the path of the backup */
async function write(
  { host, name, file, isShared }: Place,
  entry: Record<string, unknown>,
): Promise<string | undefined> {
  const text = await readConfiguration(file);
  const edited = whole(file, () => withServer(host.entry, text, name, entry));
  return writeConfiguration(file, edited, isShared ? 'others' : 'owner');
}
