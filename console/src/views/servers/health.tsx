/** The health of a server: a bar for each check, the oldest first, and a summary of its calls in the last hour. */
import { useQuery } from '@tanstack/preact-query';
import { healthQuery } from '../../api/servers.ts';
import type { HealthHistory } from '../../generated/types.gen.ts';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { toRelative } from '../../parts/relative-time.ts';

type Check = HealthHistory['checks'][number];

const BAR = 6;
const GAP = 2;
const HEIGHT = 60;
/** Shortest bar, so that it stays visible. */
const LOWEST = 4;

const FOUND = {
  good: 'well',
  failed: 'failed',
  auth_required: 'wants a credential',
} as const;

export function Health({ id, isAsked }: { id: string; isAsked: boolean }) {
  const found = useQuery({ ...healthQuery(id), enabled: isAsked });
  return (
    <section>
      <h2>Health</h2>
      {found.error ? <Problem thrown={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.data ? <History history={found.data} /> : found.error ? null : <Loading />}
    </section>
  );
}

function History({ history: { checks, windows } }: { history: HealthHistory }) {
  const hour = windows['1h'];
  return (
    <>
      {checks.length === 0 ? <Empty>It was not checked yet.</Empty> : <Plot checks={checks} />}
      <p>
        Calls of the last hour: {hour.calls}
        {hour.calls === 0 ? '' : `, ${hour.errors} failed`}
        {hour.p50_ms === null ? '' : `; half of them within ${toMs(hour.p50_ms)}`}
        {hour.p95_ms === null ? '' : `, 95 of 100 within ${toMs(hour.p95_ms)}`}
      </p>
    </>
  );
}

const toMs = (ms: number) => `${Math.round(ms)} ms`;

function Plot({ checks }: { checks: readonly Check[] }) {
  const inOrder = checks.toReversed();
  const wentWell = inOrder.filter(({ finding }) => finding === 'good');
  const good = wentWell.length;
  const slowest = Math.max(1, ...wentWell.map(({ response_time_ms: ms }) => ms ?? 0));
  const since = inOrder[0]?.at ?? '';
  const now = Date.now();
  const says = `${good} of ${checks.length} checks went well since ${toRelative(since, now)}${good === 0 ? '' : `; the slowest took ${toMs(slowest)}`}.`;
  const heightOf = ({ finding, response_time_ms: ms }: Check) =>
    finding === 'good' ? Math.max(LOWEST, ((ms ?? 0) / slowest) * HEIGHT) : HEIGHT;
  return (
    <figure class="plot">
      <svg
        role="img"
        preserveAspectRatio="xMinYMax meet"
        aria-label={says}
        viewBox={`0 0 ${Math.max(40, inOrder.length) * (BAR + GAP)} ${HEIGHT}`}
      >
        {inOrder.map((check, index) => (
          <rect
            key={check.id}
            class={check.finding === 'good' ? 'good' : 'bad'}
            x={index * (BAR + GAP)}
            y={HEIGHT - heightOf(check)}
            width={BAR}
            height={heightOf(check)}
          >
            <title>{titleOf(check, now)}</title>
          </rect>
        ))}
      </svg>
      <figcaption>{says}</figcaption>
    </figure>
  );
}

function titleOf({ at, finding, reason, response_time_ms: ms }: Check, now: number): string {
  const took = ms === null ? '' : `, ${toMs(ms)}`;
  return `${toRelative(at, now)}: ${FOUND[finding]}${reason === null ? '' : ` (${reason})`}${took}`;
}
