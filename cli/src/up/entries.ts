/** Splits an `mcp.json` for `portico up`: programs to run here, and servers with a URL. Entries that are left out are reported. */
import { parseServerConfig, type ConfiguredServer } from '../../../local/config-file.ts';
import { parseMcpJson } from '../../../src/servers/transfer/mcp-json.ts';
import { readConfig, type ServerConfig } from '../connect/config.ts';

export interface Entries {
  programs: ServerConfig[];
  remotes: ConfiguredServer[];
  /** Lines for people about entries that are left out or unwise. */
  notes: string[];
}

/**
 * @param file its path, for messages and as the base of a relative `cwd`
 * @throws Failure or StartError that names the invalid entry
 */
export function readEntries(
  text: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Entries {
  const { servers: remotes, skipped } = parseServerConfig(text, file, env);
  const parsed = parseMcpJson(text);
  const entries = 'entries' in parsed ? parsed.entries : [];
  const programNames = new Set(
    entries
      .filter(({ kind, isDisabled }) => kind === 'stdio' && !isDisabled)
      .map(({ name }) => name),
  );
  const { servers: programs, warnings } =
    programNames.size > 0 ? readConfig(text, file, env) : { servers: [], warnings: [] };
  const notes = skipped
    .filter(({ name }) => !programNames.has(name))
    .map(({ name, reason }) => `${name} is left out: it ${reason}`);
  return { programs, remotes, notes: [...notes, ...warnings] };
}
