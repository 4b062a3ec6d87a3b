/** The command line of `npm run deploy`, and what it reads of the environment. Pure. */
import { parseArgs } from 'node:util';
import { StartError } from '../local/start-error.ts';

export interface DeployOptions {
  /** What `--name` gives. */
  name: string | undefined;
  env: string | undefined;
  domain: string | undefined;
  /** Origin where people reach it, if it is neither workers.dev nor the domain. */
  url: string | undefined;
  jurisdiction: string | undefined;
  location: string | undefined;
  /** A region of a cloud near which the Worker runs, in place of near its caller. */
  placement: string | undefined;
  needsSetupCode: boolean;
  isDryRun: boolean;
  isConfirmed: boolean;
  isHelp: boolean;
}

const SEE_HELP = 'See npm run deploy -- --help';
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const HOST = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const JURISDICTIONS = ['eu', 'fedramp'];
const REGION = /^(?:aws|azure|gcp):[a-z0-9-]{2,40}$/;
const LOCATIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc'];

/** @throws StartError for an option that is unknown or not right */
export function readOptions(args: readonly string[]): DeployOptions {
  const values = parse(args);
  const { env, domain, url, jurisdiction, location, placement } = values;
  checkName([values.name, env].filter(part => part !== undefined).join('-') || 'portico');
  if (domain !== undefined && !HOST.test(domain)) {
    throw wrong('--domain', domain, 'is a host name like mcp.example.com');
  }
  if (url !== undefined && !isOrigin(url)) {
    throw wrong('--url', url, 'is an origin like https://mcp.example.com');
  }
  if (jurisdiction !== undefined && !JURISDICTIONS.includes(jurisdiction)) {
    throw wrong('--jurisdiction', jurisdiction, `is one of ${JURISDICTIONS.join(', ')}`);
  }
  if (location !== undefined && !LOCATIONS.includes(location)) {
    throw wrong('--location', location, `is one of ${LOCATIONS.join(', ')}`);
  }
  if (placement !== undefined && !REGION.test(placement)) {
    throw wrong('--placement', placement, 'is a region of a cloud like aws:eu-central-1');
  }
  if (jurisdiction !== undefined && location !== undefined) {
    throw new StartError(`Give --jurisdiction or --location, not both. ${SEE_HELP}`, 2);
  }
  return {
    name: values.name,
    env,
    domain,
    url: url === undefined ? undefined : new URL(url).origin,
    jurisdiction,
    location,
    placement,
    needsSetupCode: values['setup-code'],
    isDryRun: values['dry-run'],
    isConfirmed: values.yes,
    isHelp: values.help,
  };
}

/** @throws StartError where no Worker can have that name */
export function checkName(name: string): void {
  if (!NAME.test(name)) {
    throw wrong('The name', name, 'has letters a to z, digits and - only, 63 at most');
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        name: { type: 'string' },
        env: { type: 'string' },
        domain: { type: 'string' },
        url: { type: 'string' },
        jurisdiction: { type: 'string' },
        location: { type: 'string' },
        placement: { type: 'string' },
        'setup-code': { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        yes: { type: 'boolean', short: 'y', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/[.\n]/)[0] : String(error);
    throw new StartError(`${reason}. ${SEE_HELP}`, 2);
  }
}

const wrong = (what: string, given: string, rule: string): StartError =>
  new StartError(`${what} ${rule}, not ${JSON.stringify(given)}. ${SEE_HELP}`, 2);

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search } = new URL(text);
  const isHere = protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname);
  return (protocol === 'https:' || isHere) && pathname === '/' && search === '';
}
