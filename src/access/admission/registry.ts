/**
 * The registry as decisions need it: servers, access rules and toolsets of one moment. It is read in whole once, and after that what
 * changed only; what did not change stays the same object, since views and lists are remembered by it.
 */
import {
  parseServers,
  selectChangedServers,
  selectServers,
} from '../../servers/registry/server-store.ts';
import {
  parseChanges,
  parseRevision,
  selectChanges,
  selectRevision,
} from '../../servers/registry/revision-store.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { SchemaAge } from '../../shared/util/either-schema.ts';
import { parseBudgets, selectBudgets } from '../policy/budget-store.ts';
import type { AccessState } from '../policy/policy.ts';
import type { DefaultAccess } from '../policy/rule.ts';
import { parseRules, selectChangedRules, selectRules } from '../policy/rule-store.ts';
import { parseToolsets, selectChangedToolsets, selectToolsets } from '../policy/toolset-store.ts';

export interface Registry {
  revision: number;
  /** In the order of their names. */
  servers: readonly Server[];
  /** Some of them are reached by accounts of callers. */
  hasAccounts: boolean;
  /** What decisions are made of beside the token. */
  access: AccessState;
}

/** What reads the whole registry; for {@link toRegistry}. @param age the last release had no budgets */
export function selectRegistry(db: D1Database, age: SchemaAge): D1PreparedStatement[] {
  const budgets = age === 'this' ? [selectBudgets(db)] : [];
  return [selectRevision(db), selectServers(db), selectRules(db), selectToolsets(db), ...budgets];
}

/** @param rows of the statements of {@link selectRegistry} */
export function toRegistry(
  [revisions = [], servers = [], rules = [], toolsets = [], budgets = []]: readonly unknown[][],
  posture: DefaultAccess,
): Registry {
  const access = {
    posture,
    rules: parseRules(rules).toSorted(by(idOf)),
    toolsets: parseToolsets(toolsets).toSorted(by(nameOf)),
    budgets: parseBudgets(budgets).toSorted(by(idOf)),
  };
  const revision = parseRevision(revisions);
  return { revision, ...withMode(parseServers(servers).toSorted(by(nameOf))), access };
}

/** What reads what changed since another registry was read; for {@link changedRegistry}. */
export function selectRegistryChanges(
  db: D1Database,
  { revision }: Registry,
): D1PreparedStatement[] {
  return [
    selectChanges(db, revision),
    selectChangedServers(db, revision),
    selectChangedRules(db, revision),
    selectChangedToolsets(db, revision),
  ];
}

/**
 * @param rows of the statements of {@link selectRegistryChanges}
 * @returns undefined where it is not known any more what changed, or budgets did: all has to be read
 */
export function changedRegistry(
  before: Registry,
  [changes = [], servers = [], rules = [], toolsets = []]: readonly unknown[][],
): Registry | undefined {
  const { revision, changed } = parseChanges(changes, before.revision);
  if (!changed) return undefined;
  if (revision === before.revision) return before;
  // Seldom, so that no refresh looks for them.
  if (changed.budget.size > 0) return undefined;
  const { access } = before;
  const now = {
    rules: merged(access.rules, changed.rule, parseRules(rules), idOf),
    toolsets: merged(access.toolsets, changed.toolset, parseToolsets(toolsets), nameOf),
    budgets: access.budgets,
  };
  const isSame =
    now.rules === access.rules && now.toolsets === access.toolsets && changed.budget.size === 0;
  return {
    revision,
    ...withMode(merged(before.servers, changed.server, parseServers(servers), nameOf)),
    access: isSame ? access : { posture: access.posture, ...now },
  };
}

const withMode = (servers: readonly Server[]) => ({
  servers,
  hasAccounts: servers.some(({ accounts }) => accounts !== 'shared'),
});

const nameOf = ({ name }: { name: string }) => name.toLowerCase();
const idOf = ({ id }: { id: string }) => id;

const by =
  <T>(keyOf: (record: T) => string) =>
  (a: T, b: T) =>
    keyOf(a) < keyOf(b) ? -1 : 1;

/** The records of before with what became of those that changed; the same list where none did. */
function merged<T extends { id: string }>(
  before: readonly T[],
  changed: ReadonlySet<string>,
  now: readonly T[],
  keyOf: (record: T) => string,
): readonly T[] {
  if (changed.size === 0) return before;
  return [...before.filter(({ id }) => !changed.has(id)), ...now].toSorted(by(keyOf));
}
