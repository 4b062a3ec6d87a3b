/**
 * Carries out the changes of a plan. Each is one request, conditional on the planned revision, and marks its record's owner in the same
 * write. A failed change is reported and the rest continues, but no deletion is made after a failure, and nothing more is tried once the
 * gateway does not respond.
 */
import { toOwnerHeader } from '../../../src/shared/identity/record-owner.ts';
import { EXIT, Failure } from '../failure.ts';
import { ifStill, Unanswered, type Api } from '../gateway/api.ts';
import type { Content, Known } from './content.ts';
import { kindOf } from './kinds.ts';
import type { Change } from './plan.ts';

/** Every isolate knows a new server after this time, in milliseconds; before, it may refuse records that name it. */
const SEEN_MS = 1_100;

export interface Outcome {
  change: Change;
  /** Why the change was not made; absent where it was. */
  problem?: string;
}

export interface Work {
  api: Pick<Api, 'json'>;
  owner: string;
  /** Values of secrets by name. */
  values: ReadonlyMap<string, string>;
  known: readonly Known[];
  wait(ms: number): Promise<unknown>;
  /** Called after each change. */
  onDone(outcome: Outcome): void;
}

export async function carryOut(changes: readonly Change[], work: Work): Promise<Outcome[]> {
  const ids = idsOfPrincipals(changes, work);
  const written = new Map<string, number>();
  const outcomes: Outcome[] = [];
  let hasStopped = false;
  const tell = (outcome: Outcome) => {
    outcomes.push(outcome);
    work.onDone(outcome);
  };
  /** Returns why the work failed. */
  const attempt = async (make: () => Promise<void>): Promise<string | undefined> => {
    try {
      await make();
      return undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      hasStopped ||= error instanceof Unanswered || error.exitCode === EXIT.denied;
      return error.message;
    }
  };
  /** Records to replace are deleted before the first new one of their kind is created, since a new record may need the place of another. */
  const removed = new Map<Change, string | undefined>();
  const removeReplaced = async (kind: Change['kind']) => {
    for (const change of changes) {
      if (change.kind !== kind || change.verb !== 'replace' || removed.has(change)) continue;
      if (hasStopped) return;
      removed.set(change, await attempt(() => remove(change, work)));
    }
  };
  const whyStopped = (change: Change): string | undefined => {
    if (!hasStopped) return undefined;
    const what = removed.has(change) ? 'deleted, but not created again' : 'not tried';
    return `${what}, since an earlier request failed`;
  };
  let isUnseen = false;
  for (const change of changes) {
    if (change.kind !== 'server' && isUnseen) {
      isUnseen = false;
      await work.wait(SEEN_MS);
    }
    const hasFailed = outcomes.some(({ problem }) => problem !== undefined);
    const kept =
      change.verb === 'delete' && hasFailed ? 'not deleted, since other changes failed' : undefined;
    if (change.verb === 'replace') await removeReplaced(change.kind);
    const make = () => attempt(() => makeOne(change, work, ids, written));
    const problem = removed.get(change) ?? whyStopped(change) ?? kept ?? (await make());
    tell(problem === undefined ? { change } : { change, problem });
    isUnseen ||= change.kind === 'server' && change.verb === 'create';
  }
  return outcomes;
}

type Ids = Map<string, string>;

/** Ids of principals by their name or key in the file; those of new principals are added later. */
function idsOfPrincipals(changes: readonly Change[], { known, owner }: Work): Ids {
  const principals = known.filter(({ kind }) => kind === 'principal');
  const names = principals.map(({ id, content }) => [String(content['name']), id] as const);
  const own = principals.flatMap(({ id, owner: mark }) =>
    mark?.owner === owner ? [[mark.key, id] as const] : [],
  );
  const found = changes.flatMap(({ kind, key, before }) =>
    kind === 'principal' && before ? [[key, before.id] as const] : [],
  );
  return new Map([...names, ...own, ...found]);
}

const pathOf = ({ kind, before }: Change): string =>
  `${kindOf(kind).path}/${encodeURIComponent(before?.id ?? '')}`;

const remove = (change: Change, { api }: Work): Promise<void> => api.json('DELETE', pathOf(change));

/** @param written revisions of secrets after their writes, by path */
async function makeOne(
  change: Change,
  work: Work,
  ids: Ids,
  written: Map<string, number>,
): Promise<void> {
  const { api, owner, values } = work;
  const { verb, kind, key, before, after } = change;
  if (verb === 'delete') return remove(change, work);
  const { path } = kindOf(kind);
  const mark = { owner, key };
  const headers = { 'portico-owner': toOwnerHeader(mark) };
  const send = <T>(method: string, to: string, body: unknown, more = {}) =>
    api.json<T>(method, to, JSON.stringify(body), { ...headers, ...more });
  if (verb === 'adopt') {
    await send('PUT', '/api/v1/owners', { kind, id: before?.id, ...mark });
    return;
  }
  if (!after) return;
  if (kind === 'secret') {
    const body = { value: values.get(String(after['name'])), origins: after['origins'] };
    const to = `${path}/${encodeURIComponent(String(after['name']))}`;
    // Origins may be widened first and narrowed later: the second write builds on the revision of the first.
    const { revision } = await send<{ revision?: number }>(
      'PUT',
      to,
      body,
      ifStill(written.get(to) ?? before?.revision),
    );
    if (revision !== undefined) written.set(to, revision);
  } else if (verb === 'update') {
    const match = before?.revision === undefined ? {} : ifStill(before.revision);
    await send('PATCH', pathOf(change), toPatch(change, ids), match);
  } else {
    const made = await send<{ id?: string }>('POST', path, toBody(after, ids));
    if (kind === 'principal' && made.id !== undefined) ids.set(key, made.id);
  }
}

/** The members that differ, each with its whole value; null clears. */
function toPatch({ before, after = {}, differences }: Change, ids: Ids): Content {
  const changed = new Set(differences.map(({ field }) => field.split('.')[0] ?? ''));
  const patch = Object.fromEntries([...changed].map(name => [name, after[name] ?? null]));
  const config = patch['connection_config'];
  if (config && typeof config === 'object' && !Array.isArray(config) && before) {
    // A new address drops the credentials for the old one, so `headers` and `auth` are always sent with it.
    patch['connection_config'] = { headers: null, auth: null, ...config };
  }
  return toBody(patch, ids);
}

/** Replaces the file's names of principals with ids. */
function toBody(content: Content, ids: Ids): Content {
  const idOf = (name: unknown) => ids.get(String(name)) ?? String(name);
  const { subject, members } = content as {
    subject?: { kind: string; name: string };
    members?: { principals: string[]; groups: string[] } | null;
  };
  return {
    ...content,
    ...(subject?.kind === 'principal'
      ? { subject: { kind: subject.kind, id: idOf(subject.name) } }
      : {}),
    ...(members ? { members: { ...members, principals: members.principals.map(idOf) } } : {}),
  };
}
