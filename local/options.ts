/**
 * The command line of `npm start`. Owns names, defaults and limits of the options (`--help` is answered earlier, with `help.txt`).
 * Everything else is refused with one line that says what is wrong.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parsePublic, type PublicOptions } from './public-options.ts';
import { StartError } from './start-error.ts';

export interface StartOptions {
  port: number;
  /** Absolute path of the data folder. */
  dataDir: string;
  /** Absolute path of an mcp.json. */
  configFile: string | undefined;
  demo: boolean;
  /** How others reach the gateway; undefined if it is for this machine only. */
  team: PublicOptions | undefined;
}

/**
 * Parses the arguments.
 * @param userDir folder that paths on the command line are relative to
 * @param defaultDataDir data folder if none is named
 * @param environment variables that stand for options
 * @throws StartError with exit code 2
 */
export function parseOptions(
  args: readonly string[],
  userDir: string,
  defaultDataDir: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): StartOptions {
  const values = readValues(args);
  const team = parsePublic(values, environment);
  return {
    port: parsePort(values.port),
    dataDir: values.data === undefined ? defaultDataDir : toPath('data', values.data, userDir),
    configFile: values.config === undefined ? undefined : toPath('config', values.config, userDir),
    // The demo servers are for one user only: one of their tools prints an environment.
    demo: !values['no-demo'] && team === undefined,
    team,
  };
}

function readValues(args: readonly string[]) {
  const { values, positionals } = parse(args);
  if (positionals.length === 0) return values;
  throw new StartError(`Unknown argument: ${positionals[0]}. See npm start -- --help`, 2);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: 'string', default: '8787' },
        data: { type: 'string' },
        config: { type: 'string' },
        'no-demo': { type: 'boolean', default: false },
        host: { type: 'string' },
        'public-url': { type: 'string' },
        'trusted-proxies': { type: 'string' },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/[.\n]/)[0] : String(error);
    throw new StartError(`${reason}. See npm start -- --help`, 2);
  }
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 1 && port <= 65_535) return port;
  throw new StartError(`--port must be a number from 1 to 65535, not ${JSON.stringify(text)}.`, 2);
}

function toPath(option: string, text: string, userDir: string): string {
  if (text === '') throw new StartError(`--${option} needs a path.`, 2);
  return resolve(userDir, text);
}
