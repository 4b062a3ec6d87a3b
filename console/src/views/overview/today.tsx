/** Refused and slow calls of the last 24 hours, as plots. */
import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { auditCountsQuery } from '../../api/audit.ts';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { toWhole } from '../../parts/time.tsx';
import '../activity.css';
import { denied, slow } from '../activity/bars.ts';
import { Plot } from '../activity/plot.tsx';

const HOUR_MS = 3_600_000;
const HALF_HOUR = 1800;
/** How often an open page checks whether the next hour has begun, in milliseconds. */
const CHECK_MS = 60_000;

/** The span starts at a full hour, so that it changes once an hour. */
function toSince(): string {
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  return new Date(hour - 23 * HOUR_MS).toISOString();
}

export function Today() {
  const [since, setSince] = useState(toSince);
  useEffect(() => {
    const timer = setInterval(() => setSince(toSince()), CHECK_MS);
    return () => clearInterval(timer);
  }, []);
  const counts = useQuery({
    ...auditCountsQuery({ kind: 'calls', since }, HALF_HOUR),
    placeholderData: before => before,
  });
  if (counts.error) return <Problem thrown={counts.error} onRetry={() => void counts.refetch()} />;
  if (!counts.data) return <Loading />;
  const { parts, since: from, counted_since: counted } = counts.data;
  const rest = counted === from ? '' : ` since ${toWhole(counted)}; earlier calls are not counted`;
  if (parts.length === 0) return <Empty>Nothing was called{rest}.</Empty>;
  const has = (name: 'denied' | 'slow') => parts.some(part => part[name] > 0);
  return (
    <>
      {has('denied') ? (
        <Plot counts={counts.data} split={denied} says={all => `${callsOf(all)} refused`} />
      ) : (
        <Empty>No call was refused{rest}.</Empty>
      )}
      {has('slow') ? (
        <Plot
          counts={counts.data}
          split={slow}
          says={all => `${callsOf(all)} of five seconds or longer`}
        />
      ) : (
        <Empty>No call took five seconds{rest}.</Empty>
      )}
      <p>
        <Link href="/activity?kind=calls&outcome=denied&range=day">Refused calls</Link>
      </p>
    </>
  );
}

const callsOf = (count: number) => `${count} ${count === 1 ? 'call' : 'calls'}`;
