/** `portico client list`: the hosts of this machine, which of them have the gateway, and whether it accepts their token. */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { Failure } from '../failure.ts';
import { Api } from '../gateway/api.ts';
import { note, writeJson, writeTable } from '../terminal.ts';
import { isMember, readOwnToken } from './client-token.ts';
import type { Configured } from './configured.ts';
import { HOSTS, type Host } from './hosts.ts';
import { openPlace, thisMachine, type PlaceOptions } from './place.ts';
import { safeGatewayOf } from './safe-gateway.ts';

export interface ListOptions extends PlaceOptions {
  json?: boolean;
}

/** State of a host; programs read these words in `--json`. */
type State =
  | 'not found'
  | 'not set up'
  | 'works'
  | 'token refused'
  | 'token may do more'
  | 'no answer'
  | 'not looked at'
  | 'not readable';

export async function runList(options: ListOptions): Promise<void> {
  const found = await Promise.all(HOSTS.map(host => look(host, options)));
  if (options.json) return writeJson(found);
  const home = homedir();
  const rows = found.map(({ client, state, file }) => [
    client,
    state,
    file.startsWith(home) ? `~${file.slice(home.length)}` : file,
  ]);
  const heading = ['CLIENT', 'STATE', 'FILE'];
  await writeTable(heading, rows);
  for (const { problem } of found) if (problem !== null) note(problem);
}

async function look(host: Host, options: ListOptions) {
  const { file, folder } = host.files(thisMachine());
  const told = { client: host.id, title: host.title, file, url: null as string | null };
  const stateOf = (state: State) => ({ ...told, state, problem: null as string | null });
  try {
    const { found, text } = await openPlace(host.id, options);
    if (found) return { ...stateOf(await ask(found)), url: found.url ?? null };
    return stateOf(text !== '' || (await isThere(folder)) ? 'not set up' : 'not found');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...stateOf('not readable'), problem: error.message };
  }
}

async function ask({ url: text, token }: Configured): Promise<State> {
  const url = safeGatewayOf(text);
  if (!url || token === undefined) return 'not looked at';
  try {
    const own = await readOwnToken(new Api(url, token));
    if (!own) return 'token refused';
    return isMember(own) ? 'works' : 'token may do more';
  } catch (error) {
    if (error instanceof Failure) return 'no answer';
    throw error;
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
