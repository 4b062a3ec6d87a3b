/**
 * The settings of the Worker in an environment, checked by the Worker's own rules, so that a start refuses what is not right before
 * anything runs. Stricter than a deployment: a `PORTICO_` name that nothing reads is refused too.
 */
import { parseConfig, SETTING_NAMES } from '../src/config.ts';
import { nearestName } from '../src/shared/util/nearest-name.ts';
import { StartError } from './start-error.ts';

/** What the local host sets by itself, from the data folder. */
const OWN = ['PORTICO_ADMIN_TOKEN', 'PORTICO_KEYS', 'PORTICO_MODE'];
/** What commands read. */
const OF_COMMANDS = [
  'PORTICO_URL',
  'PORTICO_TOKEN',
  'PORTICO_CONNECTOR_TOKEN',
  'PORTICO_TRACE_DIR',
];

/** @throws StartError that names the first setting that is not right */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const isSetting = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && /^portico_/i.test(entry[0]);
  const outside = new Set([...OWN, ...OF_COMMANDS]);
  const given = Object.entries(environment)
    .filter(isSetting)
    .filter(([name]) => !outside.has(name));
  for (const [name] of given) refuseUnknown(name);
  const settings = Object.fromEntries(given);
  try {
    parseConfig({ ...settings, PORTICO_MODE: 'local' });
  } catch (error) {
    throw new StartError((error as Error).message, 2);
  }
  return settings;
}

function refuseUnknown(name: string): void {
  if (SETTING_NAMES.includes(name)) return;
  const meant = nearestName(name, [...SETTING_NAMES, ...OF_COMMANDS]);
  const advice = meant ? `did you mean ${meant}?` : 'docs/operations.md lists the settings';
  throw new StartError(`Setting ${name} is not known; ${advice}`, 2);
}
