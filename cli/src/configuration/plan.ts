/**
 * Plans an apply: the changes that make the records of a file's owner match the file, in an order in which each is possible. Records of
 * people and of other owners are never changed unless they are adopted. Pure.
 */
import type { OwnedKind } from '../../../src/shared/identity/record-owner.ts';
import {
  differencesOf,
  type Difference,
  type Content,
  type Known,
  type Wanted,
} from './content.ts';
import { KINDS, kindOf } from './kinds.ts';

export interface Change {
  /**
   * `adopt`: the record already matches, and only gets the owner. `replace`: the record cannot be edited, so it is deleted and created
   * again.
   */
  verb: 'create' | 'update' | 'replace' | 'adopt' | 'delete';
  kind: OwnedKind;
  key: string;
  /** The record at the gateway; absent for a new one. */
  before?: Known;
  /** Absent for a deletion. */
  after?: Content;
  differences: Difference[];
}

export interface PlanProblem {
  kind: OwnedKind;
  key: string;
  message: string;
}

export interface Plan {
  changes: Change[];
  problems: PlanProblem[];
  /** The owner's records that are no longer in the file, but are kept. */
  left: Known[];
}

export interface PlanOptions {
  owner: string;
  /** Delete the owner's records that are no longer in the file. */
  prune?: boolean | undefined;
  /** Take over other owners' records that the file names. */
  adopt?: boolean | undefined;
}

export function makePlan(
  wanted: readonly Wanted[],
  known: readonly Known[],
  { owner, prune = false, adopt = false }: PlanOptions,
): Plan {
  const changes: Change[] = [];
  const problems: PlanProblem[] = [];
  const kept = new Set<Known>();
  for (const { kind } of KINDS) {
    const all = known.filter(record => record.kind === kind);
    const ofKind = wanted.filter(record => record.kind === kind);
    const matches = matchAll(ofKind, all, owner);
    for (const { record, found, others } of matches) {
      if (found) kept.add(found);
      const staying = others.filter(other => !prune || other.owner?.owner !== owner);
      const problem = judge(record, found, staying, { owner, adopt });
      if (problem === undefined) changes.push(...toChange(record, found, owner));
      else problems.push({ kind, key: record.key, message: problem });
    }
  }
  const gone = known.filter(record => record.owner?.owner === owner && !kept.has(record));
  const deletions = gone.map((before): Change => ({
    verb: 'delete',
    kind: before.kind,
    key: before.owner?.key ?? before.id,
    before,
    differences: [],
  }));
  return {
    changes: inOrder([...changes, ...(prune ? deletions : [])]),
    problems,
    left: prune ? [] : gone,
  };
}

interface Match {
  record: Wanted;
  found?: Known;
  /** Other records with the same identity at the gateway. */
  others: Known[];
}

/** Finds the record for each wanted one: by its key, else by its identity. No record is matched twice. */
function matchAll(wanted: readonly Wanted[], known: readonly Known[], owner: string): Match[] {
  const isOwn = ({ owner: mark }: Known) => mark?.owner === owner;
  const byKey = new Map(known.filter(isOwn).map(record => [record.owner?.key, record]));
  const taken = new Set(wanted.flatMap(({ key }) => byKey.get(key) ?? []));
  return wanted.map(record => {
    const { identityOf } = kindOf(record.kind);
    const identity = identityOf(record.content);
    const same = known.filter(({ content }) => identityOf(content) === identity);
    const free = same.filter(each => !taken.has(each));
    const found = byKey.get(record.key) ?? free.find(isOwn) ?? free[0];
    if (found) taken.add(found);
    return { record, ...(found ? { found } : {}), others: free.filter(each => each !== found) };
  });
}

/** Returns why a wanted record is impossible. */
function judge(
  { kind, content }: Wanted,
  found: Known | undefined,
  others: readonly Known[],
  { owner, adopt }: { owner: string; adopt: boolean },
): string | undefined {
  const { hasOneOfEach, fixed } = kindOf(kind);
  const isForeign = found !== undefined && found.owner?.owner !== owner;
  const [other] = others;
  if (isForeign && !adopt) return `already exists and belongs to ${whose(found)}; see --adopt`;
  if (isForeign && kind === 'principal' && other)
    return 'several principals have this name; use their ids';
  if (found && hasOneOfEach && other) {
    return other.owner?.owner === owner
      ? `conflicts with ${other.owner.key}, which is no longer in the file; see --prune`
      : `conflicts with a record that belongs to ${whose(other)}`;
  }
  if (!found || fixed.isReplaced) return undefined;
  const stuck = differencesOf(found.content, content).find(({ field }) => isFixed(fixed, field));
  return (
    stuck && `${stuck.field} cannot be changed; choose another name, or delete the record first`
  );
}

const whose = ({ owner }: Known): string => (owner ? `the file of '${owner.owner}'` : 'people');

const isFixed = ({ fields }: { fields: readonly string[] }, field: string): boolean =>
  fields.some(each => field === each || field.startsWith(`${each}.`));

function toChange(
  { kind, key, content }: Wanted,
  found: Known | undefined,
  owner: string,
): Change[] {
  if (!found) return [{ verb: 'create', kind, key, after: content, differences: [] }];
  const { fixed } = kindOf(kind);
  const differences = differencesOf(found.content, content);
  const isOwn = found.owner?.owner === owner && found.owner.key === key;
  if (differences.length === 0 && isOwn) return [];
  const isNew = fixed.isReplaced && differences.some(({ field }) => isFixed(fixed, field));
  const verb = isNew ? 'replace' : differences.length === 0 ? 'adopt' : 'update';
  return [{ verb, kind, key, before: found, after: content, differences }];
}

/**
 * Orders changes: creations and edits before deletions, referenced records before those that refer to them. Cache rules and budgets are
 * deleted first, since new ones may take their place. A secret can lose an origin only once no server there uses it, so where servers
 * change too, the secret gets the union of origins before them and loses the old ones after.
 */
function inOrder(changes: readonly Change[]): Change[] {
  const places = new Map(KINDS.map(({ kind }, at) => [kind, at]));
  const placeOf = ({ kind }: Change) => places.get(kind) ?? 0;
  /** Edits come before creations: a new record may take the place that an edited one leaves. */
  const turnOf = ({ verb }: Change) => Number(verb === 'create');
  const deletions = changes.filter(({ verb }) => verb === 'delete');
  const others = changes.filter(({ verb }) => verb !== 'delete');
  const isMoving = changes.some(({ kind, verb }) => kind === 'server' && verb !== 'create');
  const split = others.map(change => (isMoving ? widened(change) : [change]));
  const isFirst = ({ kind }: Change) => kind === 'cache_rule' || kind === 'budget';
  const isLast = ({ kind }: Change) => kind === 'secret';
  return [
    ...deletions.filter(isFirst),
    ...split
      .flatMap(([first]) => first ?? [])
      .toSorted((a, b) => placeOf(a) - placeOf(b) || turnOf(a) - turnOf(b)),
    ...deletions
      .filter(change => !isFirst(change) && !isLast(change))
      .toSorted((a, b) => placeOf(b) - placeOf(a)),
    ...split.flatMap(([, last]) => last ?? []),
    ...deletions.filter(isLast),
  ];
}

/** Splits an edit of a secret's origins into two: first old and new origins, then only the new ones. */
function widened(change: Change): [first?: Change | undefined, last?: Change | undefined] {
  const { kind, verb, before, after } = change;
  if (kind !== 'secret' || verb !== 'update' || !before || !after) return [change];
  const was = before.content['origins'] as string[];
  const is = after['origins'] as string[];
  if (was.every(origin => is.includes(origin))) return [change];
  const both = { ...after, origins: [...new Set([...was, ...is])].toSorted() };
  const differences = differencesOf(before.content, both);
  const wide = { ...change, after: both, differences };
  const narrow = {
    ...change,
    before: { ...before, content: both },
    differences: differencesOf(both, after),
  };
  return differences.length === 0 ? [undefined, narrow] : [wide, narrow];
}
