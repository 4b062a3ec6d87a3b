/** The configuration of one deployment: `wrangler.toml` with the ids that were found or made. Pure. */
import type { Unstable_RawConfig } from 'wrangler';
import { StartError } from '../local/start-error.ts';
import { parseConfig } from '../src/config.ts';
import type { DeployOptions } from './options.ts';
import type { Target } from './target.ts';

export interface DeploymentIds {
  account: string;
  database: string;
  namespace: string;
}

/** Secrets without which the Worker refuses every request. */
export const REQUIRED_SECRETS = ['PORTICO_KEYS'];

/**
 * Checks the variables that the Worker has after the upload.
 * @param secrets names of its secrets, whose values cannot be read
 * @throws StartError that names an invalid one: with it the Worker would refuse every request
 */
export function checkSettings(
  { vars }: { vars?: Readonly<Record<string, unknown>> },
  secrets: readonly string[],
): void {
  try {
    parseConfig(vars ?? {});
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Settings that depend on a secret: the Worker alone can tell.
    const named = reason.startsWith('Settings ') ? reason.split(/\W+/) : [];
    if (secrets.some(each => named.includes(each))) return;
    throw new StartError(`${reason} (wrangler.toml, [vars], or a variable of the Worker)`, 2);
  }
}

/**
 * @param raw the file of the project
 * @param toRoot path from the folder of the new file to the project, with a slash at its end
 */
export function toDeploymentConfig(
  raw: Unstable_RawConfig,
  { domain, placement }: Pick<DeployOptions, 'domain' | 'placement'>,
  target: Pick<Target, 'worker' | 'database'>,
  ids: DeploymentIds,
  toRoot: string,
): Unstable_RawConfig {
  const { assets, main } = raw;
  return {
    ...raw,
    name: target.worker,
    account_id: ids.account,
    ...(main === undefined ? {} : { main: toRoot + main }),
    ...(assets?.directory === undefined
      ? {}
      : { assets: { ...assets, directory: toRoot + assets.directory } }),
    d1_databases: (raw.d1_databases ?? []).map(database => ({
      ...database,
      database_name: target.database,
      database_id: ids.database,
      migrations_dir: `${toRoot}${database.migrations_dir ?? 'migrations'}`,
    })),
    kv_namespaces: (raw.kv_namespaces ?? []).map(namespace => ({
      ...namespace,
      id: ids.namespace,
    })),
    ...(placement === undefined ? {} : { placement: { region: placement } }),
    workers_dev: domain === undefined,
    preview_urls: false,
    ...(domain === undefined ? {} : { routes: [{ pattern: domain, custom_domain: true }] }),
    // Settings made in the dashboard: without this an upload deletes them, and a closed gateway would be open.
    keep_vars: true,
    secrets: { required: REQUIRED_SECRETS },
  };
}
