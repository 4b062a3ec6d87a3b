/** Reads the filters of usage from the address. Pure. */
import type { UsageAsked, UsageBy } from '../../api/usage.ts';
import type { Usage } from '../../generated/types.gen.ts';

const DAY_MS = 86_400_000;

/** The groupings; only some users see principals and groups. */
export const BY: readonly (readonly [UsageBy, string])[] = [
  ['tool', 'Tool'],
  ['server', 'Server'],
  ['principal', 'Who called'],
  ['group', 'Group'],
  ['day', 'Day'],
];
const OF_OTHERS: ReadonlySet<UsageBy> = new Set(['principal', 'group']);

/** The groupings that the user may choose. @param seesAll whether they see calls of others */
export const choicesFor = (seesAll: boolean) => BY.filter(([by]) => seesAll || !OF_OTHERS.has(by));

export const DAYS = [
  ['7', 'The last 7 days'],
  ['30', 'The last 30 days'],
  ['90', 'The last 90 days'],
] as const;
export type Days = (typeof DAYS)[number][0];
const DEFAULT_DAYS: Days = '30';

/** The filters that a row can link to. */
export const NARROWED = ['principal', 'group', 'server', 'tool'] as const;
export type Narrowed = (typeof NARROWED)[number];

export const toDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The number of days shown. */
export const daysOf = (search: URLSearchParams): Days =>
  DAYS.find(([days]) => days === search.get('days'))?.[0] ?? DEFAULT_DAYS;

/** @param now milliseconds since the epoch */
export function toAsked(search: URLSearchParams, seesAll: boolean, now: number): UsageAsked {
  const choices = choicesFor(seesAll);
  const by = choices.find(([each]) => each === search.get('by'))?.[0] ?? 'tool';
  const from = toDay(now - (Number(daysOf(search)) - 1) * DAY_MS);
  const given = NARROWED.flatMap(name => {
    const text = search.get(name) ?? '';
    return text === '' ? [] : [[name, text] as const];
  });
  return { by, from, ...Object.fromEntries(given) };
}

/** The name of a row, and a link to only its calls. */
export interface Named {
  text: string;
  /** Undefined where there is no such filter. */
  narrow?: { name: Narrowed; value: string; by: UsageBy };
}

/** Names a row of usage. @param seesAll whether calls of others can be requested */
export function toNamed(by: UsageBy, row: Usage, seesAll: boolean): Named {
  if (by === 'day') return { text: row.day ?? '' };
  if (by === 'group') return toLink(row.group ?? '', 'group', 'principal');
  if (by === 'principal') {
    const name = row.principal_name ?? undefined;
    return name === undefined
      ? { text: 'somebody whose name is no longer known' }
      : toLink(name, 'principal', 'tool');
  }
  if (by === 'server') {
    return row.server === ''
      ? { text: 'refused before a server was known' }
      : toLink(row.server_name ?? '', 'server', 'tool');
  }
  if (row.tool) return toLink(row.tool, 'tool', seesAll ? 'principal' : 'day');
  return {
    text: row.server_name
      ? `other calls of ${row.server_name}`
      : 'refused before a server was known',
  };
}

const toLink = (value: string, name: Narrowed, by: UsageBy): Named => ({
  text: value,
  ...(value === '' || value.startsWith('*') ? {} : { narrow: { name, value, by } }),
});
