/** The configuration of one deployment: `wrangler.toml` with the ids that were found or made. Pure. */
import type { Unstable_RawConfig } from 'wrangler';
import { namesOf } from './find-deployment.ts';
import type { DeployOptions } from './options.ts';

export interface DeploymentIds {
  account: string;
  database: string;
  namespace: string;
}

/** Secrets without which the Worker refuses every request. */
export const REQUIRED_SECRETS = ['PORTICO_KEYS'];

/**
 * @param raw the file of the project
 * @param toRoot path from the folder of the new file to the project, with a slash at its end
 */
export function toDeploymentConfig(
  raw: Unstable_RawConfig,
  { name, domain }: Pick<DeployOptions, 'name' | 'domain'>,
  ids: DeploymentIds,
  toRoot: string,
): Unstable_RawConfig {
  const names = namesOf(name);
  const { assets, main } = raw;
  return {
    ...raw,
    name: names.worker,
    account_id: ids.account,
    ...(main === undefined ? {} : { main: toRoot + main }),
    ...(assets?.directory === undefined
      ? {}
      : { assets: { ...assets, directory: toRoot + assets.directory } }),
    d1_databases: (raw.d1_databases ?? []).map(database => ({
      ...database,
      database_name: names.database,
      database_id: ids.database,
      migrations_dir: `${toRoot}${database.migrations_dir ?? 'migrations'}`,
    })),
    kv_namespaces: (raw.kv_namespaces ?? []).map(namespace => ({
      ...namespace,
      id: ids.namespace,
    })),
    workers_dev: domain === undefined,
    preview_urls: false,
    ...(domain === undefined ? {} : { routes: [{ pattern: domain, custom_domain: true }] }),
    secrets: { required: REQUIRED_SECRETS },
  };
}
