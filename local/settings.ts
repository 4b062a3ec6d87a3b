/**
 * Reads the Worker's settings from an environment and checks them by the Worker's own rules, so that an invalid one is refused before
 * anything runs. Stricter than a deployment: a `PORTICO_` name that nothing reads is refused too.
 */
import { parseConfig, SETTING_NAMES } from '../src/config.ts';
import { nearestName } from '../src/shared/util/nearest-name.ts';
import { LOOPBACK } from './ports.ts';
import { PUBLIC_VARIABLES } from './public-options.ts';
import { StartError } from './start-error.ts';

/** Longest time that ended calls are gathered on one machine, in milliseconds: a backup waits for them. */
export const LONGEST_GATHER_MS = 1_000;
/** Variables that the local host sets itself. */
const OWN = ['PORTICO_ADMIN_TOKEN', 'PORTICO_KEYS', 'PORTICO_MODE'];
/** Variables that commands and clients read. */
const OF_COMMANDS = [
  'PORTICO_URL',
  'PORTICO_TOKEN',
  'PORTICO_CLIENT_TOKEN',
  'PORTICO_CONNECTOR_TOKEN',
  'PORTICO_TRACE_DIR',
];

const PUBLIC: ReadonlySet<string> = new Set(PUBLIC_VARIABLES);

/** Whether a variable of a gateway for a team has a value that lets nobody else in. */
const isForThisMachine = (name: string, value: string) =>
  value === '' || (name === 'PORTICO_HOST' && [LOOPBACK, 'localhost'].includes(value));

/**
 * Returns the settings for the Worker.
 * @param publicOrigin undefined if the gateway is for this machine only
 * @throws StartError that names the first invalid setting
 */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  publicOrigin?: string,
): Record<string, string> {
  checkMode(environment['PORTICO_MODE'], publicOrigin);
  const isSetting = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && /^portico_/i.test(entry[0]);
  const outside = new Set<string>([...OWN, ...OF_COMMANDS]);
  const isOfHost = (name: string, value: string) =>
    PUBLIC.has(name) && (publicOrigin !== undefined || isForThisMachine(name, value));
  const given = Object.entries(environment)
    .filter(isSetting)
    .filter(([name, value]) => !outside.has(name) && !isOfHost(name, value));
  for (const [name] of given) refuseUnknown(name);
  const settings = { ...Object.fromEntries(given), ...toServer(publicOrigin) };
  if (toConfig(settings).audit.gatherMs > LONGEST_GATHER_MS) {
    throw new StartError(
      `Setting PORTICO_AUDIT_GATHER_MS: must be ${LONGEST_GATHER_MS} at most on one machine, since a backup waits no longer for ended calls`,
      2,
    );
  }
  return settings;
}

function toConfig(settings: Readonly<Record<string, string>>) {
  try {
    return parseConfig({ PORTICO_MODE: 'local', ...settings });
  } catch (error) {
    throw new StartError((error as Error).message, 2);
  }
}

function toServer(publicOrigin: string | undefined): Record<string, string> {
  return publicOrigin === undefined
    ? {}
    : { PORTICO_MODE: 'server', PORTICO_PUBLIC_URL: publicOrigin };
}

/** Refuses a mode that contradicts how the gateway is reached, so that nobody relies on a wrong one. */
function checkMode(mode: string | undefined, publicOrigin: string | undefined): void {
  const isPublic = publicOrigin !== undefined;
  if (mode === undefined || mode === '') return;
  if (!isPublic && mode !== 'local') {
    throw new StartError(
      `PORTICO_MODE=${mode} needs the address that others use: npm start -- --public-url https://mcp.example.com (docs/guides/run-for-a-team.md)`,
      2,
    );
  }
  if (isPublic && mode === 'local') {
    throw new StartError(
      'PORTICO_MODE=local admits this machine only: remove either it or --public-url',
      2,
    );
  }
}

function refuseUnknown(name: string): void {
  if (SETTING_NAMES.includes(name)) return;
  if (PUBLIC.has(name)) {
    throw new StartError(
      `Setting ${name} needs the address that others use: npm start -- --public-url https://mcp.example.com (docs/guides/run-for-a-team.md)`,
      2,
    );
  }
  const meant = nearestName(name, [...SETTING_NAMES, ...OF_COMMANDS, ...PUBLIC_VARIABLES]);
  const advice = meant ? `did you mean ${meant}?` : 'docs/operations.md lists the settings';
  throw new StartError(`Setting ${name} is not known; ${advice}`, 2);
}
