/** Calls by the chosen grouping: a plot by day, a table whose rows link to their own calls, and a download. */
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { hasToken } from '../../api/request.ts';
import { isBehind, usageByDayQuery, usageExportUrl, usageQuery } from '../../api/usage.ts';
import { Select } from '../../parts/field.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { More } from '../../parts/more.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { useNow } from '../../parts/ticks.tsx';
import { Time } from '../../parts/time.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { ByDay } from './by-day.tsx';
import { UsageHead } from './head.tsx';
import { choicesFor, DAYS, daysOf, NARROWED, toAsked, type Narrowed } from './search.ts';
import { UsageTable } from './table.tsx';

const WORDS: Readonly<Record<Narrowed, string>> = {
  principal: 'Only calls of',
  group: 'Only calls of members of',
  server: 'Only calls of the server',
  tool: 'Only calls of',
};

interface TotalsProps {
  /** Whether the user also sees budgets. */
  isAdmin: boolean;
  /** Whether the user sees calls of others. */
  seesAll: boolean;
}

export function Totals({ isAdmin, seesAll }: TotalsProps) {
  const [search, set] = useAddress();
  const now = useNow();
  const asked = toAsked(search, seesAll, now);
  const found = useInfiniteQuery(usageQuery(asked));
  const days = useQuery(usageByDayQuery(asked));
  const rows = found.data?.pages.flatMap(page => page.usage);
  const first = found.data?.pages[0];
  const narrowed = NARROWED.filter(name => asked[name] !== undefined);
  return (
    <>
      <UsageHead isAdmin={isAdmin} />
      {seesAll ? null : <p>What you called.</p>}
      <form class="filters" role="search" aria-label="Usage" onSubmit={e => e.preventDefault()}>
        <div class="field">
          <Select
            label="By"
            value={asked.by}
            options={choicesFor(seesAll)}
            onValue={by => set('by', by)}
          />
        </div>
        <div class="field">
          <Select
            label="When"
            value={daysOf(search)}
            options={DAYS}
            onValue={value => set('days', value)}
          />
        </div>
      </form>
      {narrowed.map(name => (
        <p key={name} class="notice">
          {WORDS[name]} <Foreign text={asked[name] ?? ''} max={200} />.{' '}
          <Link href={withoutOne(search, name)}>All calls</Link>
        </p>
      ))}
      {found.error ? <Problem thrown={found.error} onRetry={() => void found.refetch()} /> : null}
      {rows && rows.length > 0 && days.data ? (
        <ByDay days={days.data.usage} from={asked.from} now={now} />
      ) : null}
      {rows && rows.length > 0 ? (
        <UsageTable
          by={asked.by}
          rows={rows}
          seesAll={seesAll}
          toAddress={({ name, value, by }) => withOne(search, { [name]: value, by })}
        />
      ) : null}
      {rows?.length === 0 ? <Empty>Nothing was called in these days.</Empty> : null}
      {!rows && !found.error ? <Loading /> : null}
      <p class="actions">
        <More list={found} />
        {hasToken() || !rows || rows.length === 0 ? null : (
          <a class="button quiet" href={usageExportUrl(asked)} download="usage.csv">
            Export as CSV, by day
          </a>
        )}
      </p>
      {first ? (
        <p class={isBehind(first) ? 'notice' : 'hint'}>
          Calls are counted about a minute after they ended; these are all until{' '}
          <Time at={first.counted_until} />.{' '}
          {isBehind(first) ? 'Later calls are being counted and appear here by themselves. ' : ''}
          Days are those of UTC.
        </p>
      ) : null}
    </>
  );
}

/** The address with some values replaced. */
function withOne(search: URLSearchParams, values: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values)) query.set(name, value);
  return `/usage?${query}`;
}

function withoutOne(search: URLSearchParams, name: Narrowed): string {
  const query = new URLSearchParams(search);
  query.delete(name);
  return query.size === 0 ? '/usage' : `/usage?${query}`;
}
