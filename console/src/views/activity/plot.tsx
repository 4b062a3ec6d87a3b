/** A plot of the rows that are loaded, over time: each bar a part of it, what was refused or failed on top. */
import type { AuditEvent } from '../../generated/types.gen.ts';
import { toWhole } from '../../parts/time.tsx';
import { toBars, type Bar } from './bars.ts';

const BARS = 48;
const WIDTH = 480;
const HEIGHT = 60;
const STEP = WIDTH / BARS;

export function Plot({ events }: { events: readonly AuditEvent[] }) {
  const bars = toBars(events, BARS);
  const [newest, oldest] = [events[0], events.at(-1)];
  if (!newest || !oldest) return null;
  const badly = bars.reduce((sum, bar) => sum + bar.badly, 0);
  const most = Math.max(...bars.map(bar => bar.well + bar.badly));
  const says = `${events.length} ${events.length === 1 ? 'row' : 'rows'} from ${toWhole(oldest.at)} to ${toWhole(newest.at)}, ${badly} of them refused or failed`;
  return (
    <figure class="timeline">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={says}
        preserveAspectRatio="none"
      >
        {bars.map((bar, i) => (
          <PlotBar key={bar.from} bar={bar} x={i * STEP} unit={HEIGHT / most} />
        ))}
      </svg>
      <figcaption>{says}</figcaption>
    </figure>
  );
}

function PlotBar({ bar: { from, well, badly }, x, unit }: { bar: Bar; x: number; unit: number }) {
  const [wellTall, badlyTall] = [well * unit, badly * unit];
  const place = { x, width: STEP - 1 };
  return (
    <g>
      <title>{`${toWhole(new Date(from).toISOString())}: ${well + badly}, ${badly} refused or failed`}</title>
      <rect class="well" {...place} y={HEIGHT - wellTall} height={wellTall} />
      <rect class="badly" {...place} y={HEIGHT - wellTall - badlyTall} height={badlyTall} />
    </g>
  );
}
