/**
 * The registry as decisions need it: servers, access rules and toolsets at one moment. It is read in full once, and after that only what
 * changed. Unchanged parts stay the same objects, since views and lists are cached by object identity.
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
  /** Sorted by name. */
  servers: readonly Server[];
  /** Whether callers reach some of them through accounts of their own. */
  hasAccounts: boolean;
  /** What decisions depend on beside the token. */
  access: AccessState;
}

/** Returns the statements that read the whole registry; for {@link toRegistry}. @param age the last release had no budgets */
export function selectRegistry(db: D1Database, age: SchemaAge): D1PreparedStatement[] {
  const budgets = age === 'this' ? [selectBudgets(db)] : [];
  return [selectRevision(db), selectServers(db), selectRules(db), selectToolsets(db), ...budgets];
}

/** Builds the registry. @param rows of the statements of {@link selectRegistry} */
export function toRegistry(
  [revisions = [], servers = [], rules = [], toolsets = [], budgets = []]: readonly unknown[][],
  defaultAccess: DefaultAccess,
): Registry {
  const access = {
    defaultAccess,
    rules: parseRules(rules).toSorted(by(idOf)),
    toolsets: parseToolsets(toolsets).toSorted(by(nameOf)),
    budgets: parseBudgets(budgets).toSorted(by(idOf)),
  };
  const revision = parseRevision(revisions);
  return { revision, ...withMode(parseServers(servers).toSorted(by(nameOf))), access };
}

/** Returns the statements that read what changed since another registry was read; for {@link changedRegistry}. */
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
 * Builds the registry from the one before and the rows that changed since.
 * @param rows of the statements of {@link selectRegistryChanges}
 * @returns undefined where the changes are no longer known, or budgets changed: then the whole registry has to be read
 */
export function changedRegistry(
  before: Registry,
  [changes = [], servers = [], rules = [], toolsets = []]: readonly unknown[][],
): Registry | undefined {
  const { revision, changed } = parseChanges(changes, before.revision);
  if (!changed) return undefined;
  if (revision === before.revision) return before;
  // Budgets change rarely, so a refresh does not read them.
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
    access: isSame ? access : { defaultAccess: access.defaultAccess, ...now },
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

/** Replaces the records that changed; returns the same list where none did. */
function merged<T extends { id: string }>(
  before: readonly T[],
  changed: ReadonlySet<string>,
  now: readonly T[],
  keyOf: (record: T) => string,
): readonly T[] {
  if (changed.size === 0) return before;
  return [...before.filter(({ id }) => !changed.has(id)), ...now].toSorted(by(keyOf));
}
