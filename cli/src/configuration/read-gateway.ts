/** Reads every record of a gateway that a file can hold, with its owner. */
import type { Configuration } from '../../../src/api/configuration-file.ts';
import type { RecordOwner } from '../../../src/shared/identity/record-owner.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Api } from '../gateway/api.ts';
import type { Present } from './check-references.ts';
import type { Known } from './content.ts';
import { KINDS, type Kind } from './kinds.ts';
import { createNames, type Named, type Names } from './names.ts';

/** Most secrets compared in one request. */
const MAX_COMPARED = 100;
/** Stands for a secret's value at the gateway that differs from the file's. */
const OTHER_VALUE = 'another value';

interface View {
  id?: string;
  name?: string;
  revision?: number;
  connection_config?: { connector?: string };
}

export interface GatewayState {
  names: Names;
  known: Known[];
  present: Present;
}

/** Reads the gateway, with the file's names and values for comparison. @throws Failure */
export async function readGateway(
  api: Api,
  file: Configuration,
  values: ReadonlyMap<string, string>,
): Promise<GatewayState> {
  const owners = await listOwners(api);
  const views = new Map<Kind, View[]>();
  for (const kind of KINDS) views.set(kind, await api.list<View>(kind.path, kind.list));
  const ownerOf = ({ kind }: Kind, view: View) => owners.get(`${kind} ${idOf(view)}`);
  const of = (name: string) => KINDS.flatMap(kind => (kind.kind === name ? views.get(kind) : []));
  const named = (kind: string) => of(kind).flatMap(view => (view ? toNamed(view) : []));
  const [servers, connectors, people] = [named('server'), named('connector'), named('principal')];
  const principals = people.map(principal => {
    const owner = owners.get(`principal ${principal.id}`);
    return owner && owner.owner === file.owner ? { ...principal, key: owner.key } : principal;
  });
  const names = createNames(file, { servers, connectors, principals });
  const secrets = named('secret').map(({ name }) => name);
  const same = await compare(api, values, secrets);
  const known = KINDS.flatMap(kind =>
    (views.get(kind) ?? []).map((view): Known => {
      const owner = ownerOf(kind, view);
      const reference = file.secrets?.[view.name ?? '']?.value;
      const value = same.has(view.name ?? '') ? reference : OTHER_VALUE;
      return {
        kind: kind.kind,
        id: idOf(view),
        content: kind.ofView(kind.kind === 'secret' ? { ...view, value } : view, names),
        ...(view.revision === undefined ? {} : { revision: view.revision }),
        ...(owner ? { owner } : {}),
      };
    }),
  );
  const connectorNames = connectors.map(({ name }) => name);
  return { names, known, present: { secrets, connectors: connectorNames, servers, principals } };
}

/** The id of a secret is its name. */
const idOf = ({ id, name }: View): string => id ?? name ?? '';

const toNamed = (view: View): Named => ({ id: idOf(view), name: view.name ?? '' });

async function listOwners(api: Api): Promise<Map<string, RecordOwner>> {
  const records = await api.list<RecordOwner & { kind: string; id: string }>(
    '/api/v1/owners',
    'records',
  );
  return new Map(records.map(({ kind, id, owner, key }) => [`${kind} ${id}`, { owner, key }]));
}

/** Names of the secrets whose value at the gateway equals the given one. */
async function compare(
  api: Api,
  values: ReadonlyMap<string, string>,
  there: readonly string[],
): Promise<Set<string>> {
  const given = there.flatMap(name => {
    const value = values.get(name);
    return value === undefined ? [] : { name, value };
  });
  const same = new Set<string>();
  for (let at = 0; at < given.length; at += MAX_COMPARED) {
    const body = { secrets: given.slice(at, at + MAX_COMPARED) };
    const answer = await api.post<{ same: string[] }>('/api/v1/secrets/compare', body);
    for (const name of answer.same) same.add(name);
  }
  return same;
}

/** @throws Failure where the gateway is older than the newest kind of records in a file */
export async function requireAllKinds(api: Api): Promise<void> {
  const response = await api.send('GET', '/api/v1/budgets?limit=1');
  if (response.status !== 404) return;
  throw new Failure(
    `the gateway at ${api.origin} is too old for this command; upgrade it`,
    EXIT.failed,
  );
}
