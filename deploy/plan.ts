/** What a deployment will do, made of what is there. Pure. */
import { findTooNew } from '../local/migrations.ts';
import { StartError } from '../local/start-error.ts';
import type { Found } from './find-deployment.ts';
import type { DeployOptions } from './options.ts';
import type { Target } from './target.ts';

export type StepName =
  'database' | 'namespace' | 'bookmark' | 'migrations' | 'upload' | 'health' | 'setup';

export interface Step {
  name: StepName;
  /** What will be done, for people. */
  text: string;
}

export interface Plan {
  steps: readonly Step[];
  /** What is there and stays. */
  kept: readonly string[];
  /** Origin where people reach it. */
  origin: string;
  /** Migrations that the database has not seen. */
  pending: readonly string[];
  /** The Worker gets a key ring: one that is given, or a new one. */
  needsKeys: boolean;
}

export interface Wanted {
  options: DeployOptions;
  target: Target;
  /** Names of the migrations of this version, in order. */
  migrations: readonly string[];
  /** Names of the variables that the project sets. */
  vars: readonly string[];
  /** A key ring is given. */
  hasOwnKeys: boolean;
}

/** Where people reach a deployment. @throws StartError where there is no address */
export function originOf(
  { worker }: Target,
  { domain, url }: DeployOptions,
  { subdomain }: Found,
): string {
  if (url !== undefined) return url;
  if (domain !== undefined) return `https://${domain}`;
  if (subdomain !== undefined) return `https://${worker}.${subdomain}.workers.dev`;
  throw new StartError(
    'The account has no workers.dev name yet: open Workers & Pages in the dashboard once, or give --domain',
  );
}

/** @throws StartError where it must not be done */
export function toPlan(
  { options, target, migrations, vars, hasOwnKeys }: Wanted,
  found: Found,
): Plan {
  const { jurisdiction, location, placement } = options;
  const { worker, database, namespace } = found;
  const applied = database?.migrations ?? [];
  const tooNew = findTooNew(applied, migrations);
  if (tooNew !== undefined) {
    throw new StartError(
      `The database is too new: the migration ${tooNew} removed what this version needs. Deploy a newer version`,
    );
  }
  const unknown = applied.filter(each => !migrations.includes(each));
  const needsKeys = !worker?.secrets.includes('PORTICO_KEYS');
  if (needsKeys && !hasOwnKeys && (database?.tokens ?? 0) > 0) {
    throw new StartError(
      `The database ${target.database} has tokens under a key ring that no Worker has. Put that ring into PORTICO_KEYS, or choose another --name`,
    );
  }
  if (needsKeys && !hasOwnKeys && target.isBuild) {
    // Whoever fills in the form of the button may set them later: two makers of keys would lock each other out.
    throw new StartError(
      `The Worker ${target.worker} has no PORTICO_KEYS. Set the secret under Settings, Variables and Secrets (openssl rand -base64 32), then build again`,
    );
  }
  const variables = Object.keys(worker?.variables ?? {}).filter(each => !vars.includes(each));
  const pending = migrations.filter(each => !applied.includes(each));
  const isEmpty = applied.length === 0;
  const place = jurisdiction ?? location;
  const hasAdministrator =
    (database?.administrators ?? 0) > 0 || worker?.secrets.includes('PORTICO_ADMIN_TOKEN');
  const steps: (Step | false)[] = [
    !database && {
      name: 'database',
      text: `make the D1 database ${target.database}${place === undefined ? '' : ` in ${place}`}`,
    },
    !namespace && { name: 'namespace', text: `make the KV namespace ${target.namespace}` },
    pending.length > 0 &&
      !isEmpty && { name: 'bookmark', text: 'note where the history of the database is now' },
    pending.length > 0 && { name: 'migrations', text: `apply ${counted(pending.length)}` },
    {
      name: 'upload',
      text: `upload the Worker ${target.worker}${needsKeys ? (hasOwnKeys ? ' with the keys of PORTICO_KEYS' : ' with new keys') : ''}${placement === undefined ? '' : `, to run near ${placement}`}`,
    },
    { name: 'health', text: 'wait until it answers' },
    (options.needsSetupCode || !hasAdministrator) && {
      name: 'setup',
      text: 'make a setup code, for its first administrator',
    },
  ];
  return {
    steps: steps.filter(step => step !== false),
    kept: [
      ...(database ? [`the database ${database.id}`] : []),
      ...(namespace ? [`the namespace ${namespace.id}`] : []),
      ...(unknown.length > 0 ? [`${counted(unknown.length)} of a newer version`] : []),
      ...(worker && !needsKeys
        ? [hasOwnKeys ? 'its keys; PORTICO_KEYS is not used (docs/operations.md)' : 'its keys']
        : []),
      ...(variables.length > 0
        ? [`its variable${variables.length === 1 ? '' : 's'} ${variables.join(', ')}`]
        : []),
    ],
    origin: originOf(target, options, found),
    pending,
    needsKeys,
  };
}

const counted = (n: number): string => (n === 1 ? '1 migration' : `${n} migrations`);

/** The plan as a person reads it. */
export function toPlanText({ steps, kept, origin }: Plan, version: string): string {
  return [
    `Portico ${version} at ${origin}`,
    ...kept.map(each => `  keep ${each}`),
    ...steps.map(({ text }) => `  ${text}`),
    '',
    'It needs the Workers Paid plan ($5 a month, price of November 2026). What calls cost',
    'beyond what the plan includes: docs/guides/what-a-call-costs.md',
    '',
  ].join('\n');
}
