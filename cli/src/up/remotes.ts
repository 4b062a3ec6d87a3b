/** Registers the servers of an `mcp.json` that have a URL; existing ones stay unchanged. */
import type { ConfiguredServer } from '../../../local/config-file.ts';
import { SERVERS, type Api, type ServerRecord } from '../gateway/api.ts';

/** @returns a line for each that could not be registered */
export async function registerRemotes(
  api: Api,
  remotes: readonly ConfiguredServer[],
): Promise<string[]> {
  const known = new Set((await listServers(api)).map(({ name }) => name.toLowerCase()));
  const made = remotes
    .filter(({ name }) => !known.has(name.toLowerCase()))
    .map(({ name, transportType, url, headers }) =>
      api
        .post(SERVERS, { name, transport_type: transportType, connection_config: { url, headers } })
        .then(
          () => [],
          (error: unknown) => [`${name} is not registered: ${(error as Error).message}`],
        ),
    );
  return (await Promise.all(made)).flat();
}

const listServers = (api: Api) => api.list<ServerRecord>(SERVERS, 'servers');
