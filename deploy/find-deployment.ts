/** What is there of a deployment: its Worker with bindings and secrets, its database and namespace. Reads only. */
import { z } from 'zod';
import type { Cloudflare } from './cloudflare.ts';
import { StartError } from '../local/start-error.ts';
import type { Target } from './target.ts';

/** What was found; absent members are not there. */
export interface Found {
  worker?: { secrets: readonly string[]; variables: Readonly<Record<string, unknown>> };
  database?: { id: string; migrations: readonly string[]; tokens: number; administrators: number };
  namespace?: { id: string };
  /** The account's part of workers.dev. */
  subdomain?: string;
}

const AccountsSchema = z.array(z.looseObject({ id: z.string(), name: z.string() }));
const SettingsSchema = z.looseObject({
  bindings: z
    .array(
      z.looseObject({
        name: z.string(),
        type: z.string(),
        id: z.string().optional(),
        database_id: z.string().optional(),
        namespace_id: z.string().optional(),
        text: z.string().optional(),
        json: z.unknown().optional(),
      }),
    )
    .default([]),
});
const DatabasesSchema = z.array(z.looseObject({ uuid: z.string(), name: z.string() }));
const NamespacesSchema = z.array(z.looseObject({ id: z.string(), title: z.string() }));
const SubdomainSchema = z.looseObject({ subdomain: z.string() });
const RowsSchema = z.array(z.looseObject({ results: z.array(z.unknown()) }));
const NAMESPACES_A_PAGE = 100;
const MAX_PAGES = 100;

/**
 * The account that a token is for.
 * @throws StartError where it reaches none, or several and none is named
 */
export async function findAccount(api: Cloudflare, wanted: string | undefined): Promise<string> {
  if (wanted !== undefined) {
    if (!/^[0-9a-f]{32}$/.test(wanted)) {
      throw new StartError('CLOUDFLARE_ACCOUNT_ID must be 32 characters of 0-9 and a-f', 2);
    }
    return wanted;
  }
  const found = AccountsSchema.parse(
    await api.request('Looking for the account', 'GET', '/accounts?per_page=50'),
  );
  const [first] = found;
  if (first && found.length === 1) return first.id;
  const list = found.map(({ id, name }) => `${id} (${name})`).join(', ');
  throw new StartError(
    first
      ? `The token reaches several accounts: set CLOUDFLARE_ACCOUNT_ID to one of ${list}`
      : 'The token reaches no account. It needs the permission Account Settings: Read',
    2,
  );
}

/** @throws StartError where a Worker of that name is something else */
export async function findDeployment(
  api: Cloudflare,
  account: string,
  target: Target,
): Promise<Found> {
  const at = `/accounts/${account}`;
  const settings = await api.find(
    'Looking for the Worker',
    `${at}/workers/scripts/${target.worker}/settings`,
  );
  const bindings = settings === undefined ? undefined : SettingsSchema.parse(settings).bindings;
  const bound = (binding: string) => bindings?.find(each => each.name === binding);
  // Cloudflare's builder makes an empty Worker with its secrets before the first build.
  if (bindings && !bound('CLIENT_SESSION') && !target.isBuild) {
    throw new StartError(
      `The account has a Worker named ${target.worker} that is no Portico: choose another with --name`,
    );
  }
  const { database_id: databaseId, id } = bound('DB') ?? {};
  const { ids } = target;
  const database =
    one('database', databaseId ?? id, ids.database) ??
    (await findDatabase(api, at, target.database));
  const namespace =
    one('namespace', bound('CATALOG')?.namespace_id, ids.namespace) ??
    (await findNamespace(api, at, target.namespace));
  const subdomain = await api.find('Looking for workers.dev', `${at}/workers/subdomain`);
  return {
    ...(bindings
      ? {
          worker: {
            secrets: bindings.filter(each => each.type === 'secret_text').map(each => each.name),
            variables: Object.fromEntries(
              bindings
                .filter(each => each.type === 'plain_text' || each.type === 'json')
                .map(each => [each.name, each.type === 'json' ? each.json : (each.text ?? '')]),
            ),
          },
        }
      : {}),
    ...(database === undefined
      ? {}
      : { database: { id: database, ...(await lookInto(api, account, database)) } }),
    ...(namespace === undefined ? {} : { namespace: { id: namespace } }),
    ...(subdomain === undefined ? {} : { subdomain: SubdomainSchema.parse(subdomain).subdomain }),
  };
}

/** @throws StartError where the Worker has another than wrangler.toml names */
function one(what: string, bound: string | undefined, named: string | undefined) {
  if (bound !== undefined && named !== undefined && bound !== named) {
    throw new StartError(
      `wrangler.toml names the ${what} ${named}, but the Worker has ${bound}: take one of them out`,
    );
  }
  return bound ?? named;
}

async function findDatabase(api: Cloudflare, at: string, name: string) {
  const path = `${at}/d1/database?name=${name}&per_page=100`;
  const found = DatabasesSchema.parse(await api.request('Looking for the database', 'GET', path));
  return found.find(each => each.name === name)?.uuid;
}

async function findNamespace(api: Cloudflare, at: string, title: string) {
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const path = `${at}/storage/kv/namespaces?per_page=${NAMESPACES_A_PAGE}&page=${page}`;
    const answer = await api.request('Looking for the namespace', 'GET', path);
    const found = NamespacesSchema.parse(answer);
    const id = found.find(each => each.title === title)?.id;
    if (id !== undefined || found.length < NAMESPACES_A_PAGE) return id;
  }
  return undefined;
}

/** Rows of one statement in the deployment's database. */
export async function queryDatabase(
  api: Cloudflare,
  account: string,
  database: string,
  what: string,
  sql: string,
  params: readonly (string | number)[] = [],
): Promise<readonly unknown[]> {
  const path = `/accounts/${account}/d1/database/${database}/query`;
  const answer = await api.request(what, 'POST', path, { sql, params: params.map(String) });
  return RowsSchema.parse(answer)[0]?.results ?? [];
}

const NameSchema = z.looseObject({ name: z.string() });
const CountsSchema = z.looseObject({ tokens: z.number(), administrators: z.number() });

async function lookInto(api: Cloudflare, account: string, database: string) {
  const read = (sql: string) =>
    queryDatabase(api, account, database, 'Looking into the database', sql);
  const tables = (
    await read(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('d1_migrations', 'tokens')",
    )
  ).map(row => NameSchema.parse(row).name);
  const migrations = tables.includes('d1_migrations')
    ? (await read('SELECT name FROM d1_migrations ORDER BY id')).map(
        row => NameSchema.parse(row).name,
      )
    : [];
  if (!tables.includes('tokens')) return { migrations, tokens: 0, administrators: 0 };
  const [counts] = await read(
    `SELECT count(*) AS tokens, coalesce(sum(scopes LIKE '%"admin"%'), 0) AS administrators FROM tokens`,
  );
  return { migrations, ...CountsSchema.parse(counts) };
}
