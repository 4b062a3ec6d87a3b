/**
 * Prints a plan: what is created, changed and deleted, and what the gateway deletes along with it. Control characters in outside text are
 * escaped. Pure.
 */
import colors from 'picocolors';
import { visible } from '../output/table.ts';
import type { Content, Difference, Known } from './content.ts';
import { kindOf } from './kinds.ts';
import type { Change, Plan } from './plan.ts';

const SIGNS: Readonly<Record<Change['verb'], string>> = {
  create: colors.green('+'),
  update: colors.yellow('~'),
  replace: colors.yellow('±'),
  adopt: colors.cyan('='),
  delete: colors.red('-'),
};

const quote = (value: unknown): string => visible(JSON.stringify(value) ?? '');

/** @returns lines, each with its line end */
export function printPlan({ changes, left }: Plan, known: readonly Known[]): string {
  const parts = [
    ...changes.map(change => printChange(change, known)),
    ...left.map(
      record =>
        `  ${titleOf(record.kind, record.owner?.key ?? record.id)} ${colors.dim('is not in the file; --prune deletes it')}\n`,
    ),
    `${summaryOf(changes)}\n`,
  ];
  return parts.join('');
}

const titleOf = (kind: Change['kind'], key: string) => visible(`${kindOf(kind).noun} ${key}`);

function printChange(change: Change, known: readonly Known[]): string {
  const { verb, kind, key, after = {}, differences } = change;
  const notes = {
    create: '',
    update: '',
    replace: ' (deleted and created again)',
    adopt: ' (taken over unchanged)',
    delete: goesWith(change, known),
  };
  const title = `${SIGNS[verb]} ${titleOf(kind, key)}${colors.dim(notes[verb])}`;
  const lines = verb === 'create' ? membersOf(after) : differences.map(printDifference);
  return [title, ...lines.map(line => `    ${line}`)].map(line => `${line}\n`).join('');
}

/** Lists the members of a new record, without empty ones and the name, which is in the title. */
function membersOf(content: Content, path = ''): string[] {
  return Object.entries(content).flatMap(([member, value]): string[] => {
    const field = `${path}${member}`;
    if (field === 'name' || value === '' || value === null || value === undefined) return [];
    if (Array.isArray(value))
      return value.length === 0 ? [] : [`${visible(field)}: ${quote(value)}`];
    if (typeof value === 'object') return membersOf(value, `${field}.`);
    return [`${visible(field)}: ${quote(value)}`];
  });
}

function printDifference({ field, before, after }: Difference): string {
  const name = visible(field);
  if (field === 'value') return `${name}: ${colors.dim('a new value, from')} ${quote(after)}`;
  const was = before === undefined ? colors.dim('(none)') : quote(before);
  const is = after === undefined ? colors.dim('(none)') : quote(after);
  return `${name}: ${was} → ${is}`;
}

/** Names what the gateway deletes along with a record, even if it belongs to another owner. */
function goesWith({ kind, before }: Change, known: readonly Known[]): string {
  if (kind === 'principal') return ' (its tokens are revoked, and rules only for it are deleted)';
  if (kind !== 'server' || !before) return '';
  const { name } = before.content;
  const rules = known.filter(
    ({ kind: other, content }) => other === 'cache_rule' && content['server'] === name,
  );
  return rules.length > 0 ? ` (and its ${rules.length} cache rules)` : '';
}

export function summaryOf(changes: readonly Change[]): string {
  if (changes.length === 0) return 'nothing to change';
  const words: [Change['verb'][], string][] = [
    [['create'], 'to create'],
    [['update', 'replace'], 'to change'],
    [['adopt'], 'to take over'],
    [['delete'], 'to delete'],
  ];
  return words
    .map(([verbs, word]) => [changes.filter(({ verb }) => verbs.includes(verb)).length, word])
    .filter(([count]) => count !== 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ');
}
