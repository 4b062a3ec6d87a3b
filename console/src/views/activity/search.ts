/** Turns the filters of the URL into an audit search. Pure. */
import type { AuditSearch } from '../../api/audit-search.ts';
import { lookUp, OUTCOMES, type Outcome } from './words.ts';

const HOUR_MS = 3_600_000;

/** Time spans up to now, by their name in the URL. */
export const RANGES: Readonly<Record<string, { word: string; ms: number }>> = {
  hour: { word: 'In the last hour', ms: HOUR_MS },
  day: { word: 'In the last 24 hours', ms: 24 * HOUR_MS },
  week: { word: 'In the last 7 days', ms: 168 * HOUR_MS },
  month: { word: 'In the last 30 days', ms: 720 * HOUR_MS },
};

export const FILTERS = [
  'principal',
  'server',
  'tool',
  'kind',
  'outcome',
  'range',
  'since',
  'until',
] as const;
export type FilterName = (typeof FILTERS)[number];

const isOutcome = (text: string | null): text is Outcome =>
  text !== null && Object.hasOwn(OUTCOMES, text);
const isKind = (text: string | null): text is 'calls' | 'acts' =>
  text === 'calls' || text === 'acts';

/** Converts a local time of the form to the API's format; undefined where it is not a time. */
function toMoment(text: string | null): string | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** Ignores invalid filters. @param now milliseconds since the epoch */
export function toSearch(filters: URLSearchParams, now: number): AuditSearch {
  const [kind, outcome] = [filters.get('kind'), filters.get('outcome')];
  const range = lookUp(RANGES, filters.get('range') ?? '');
  const isOwn = filters.get('range') === 'own';
  const since = isOwn
    ? toMoment(filters.get('since'))
    : range && new Date(now - range.ms).toISOString();
  const until = isOwn ? toMoment(filters.get('until')) : undefined;
  const texts = (['principal', 'server', 'tool'] as const).flatMap(name => {
    const text = filters.get(name)?.trim() ?? '';
    return text === '' ? [] : [[name, text] as const];
  });
  return {
    ...Object.fromEntries(texts),
    ...(isKind(kind) ? { kind } : {}),
    ...(isOutcome(outcome) ? { outcome } : {}),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** The address that explains why a call was refused. @param subject the tool's name as the caller gave it */
export function toWhyPath(event: { principal: string; token: string; subject: string }): string {
  const { principal, token, subject } = event;
  const at = subject.search(/[.:/]/);
  const split = at > 0 ? { at, width: 1 } : { at: subject.indexOf('__', 1), width: 2 };
  const query = new URLSearchParams({ principal, token });
  if (split.at > 0) query.set('server', subject.slice(0, split.at));
  query.set('tool', split.at > 0 ? subject.slice(split.at + split.width) : subject);
  return `/why?${query}`;
}
