/**
 * Which deployment a run is about, by its options and by `wrangler.toml`. The copy of the repository that Cloudflare's deploy button
 * makes has names and ids of its own there, and is built by Cloudflare (`WORKERS_CI`). Pure.
 */
import type { Unstable_RawConfig } from 'wrangler';
import { checkName, type DeployOptions } from './options.ts';

export interface Target {
  /** Names of the Worker, its database and its namespace. */
  worker: string;
  database: string;
  namespace: string;
  /** Those that `wrangler.toml` names. */
  ids: { database?: string; namespace?: string };
  /** Cloudflare builds it: the Worker is there, and its keys are those that a person gave. */
  isBuild: boolean;
}

/** @throws StartError where the name is none */
export function toTarget(
  { name, env: suffix }: Pick<DeployOptions, 'name' | 'env'>,
  project: Unstable_RawConfig,
  env: NodeJS.ProcessEnv,
): Target {
  const isBuild = env['WORKERS_CI'] === '1';
  const own = project.name ?? 'portico';
  const asked = suffix === undefined ? (name ?? own) : `${name ?? own}-${suffix}`;
  // Wrangler takes the builder's name in place of every other.
  const worker = (isBuild ? env['WRANGLER_CI_OVERRIDE_NAME'] : undefined) ?? asked;
  checkName(worker);
  const isOwn = worker === own;
  const [database] = isOwn ? (project.d1_databases ?? []) : [];
  const [namespace] = isOwn ? (project.kv_namespaces ?? []) : [];
  return {
    worker,
    database: database?.database_name ?? worker,
    namespace: `${worker}-catalog`,
    ids: {
      ...(database?.database_id === undefined ? {} : { database: database.database_id }),
      ...(namespace?.id === undefined ? {} : { namespace: namespace.id }),
    },
    isBuild,
  };
}
