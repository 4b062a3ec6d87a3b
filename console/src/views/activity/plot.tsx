/** A plot of counts over time: one bar for each part, with refused and failed ones on top. */
import type { AuditCounts } from '../../generated/types.gen.ts';
import { toWhole } from '../../parts/time.tsx';
import { toBars, type Bar, type Split } from './bars.ts';

const WIDTH = 480;
const HEIGHT = 60;

interface PlotProps {
  counts: AuditCounts;
  split: Split;
  /** Describes the whole plot. @param sum of all @param badly refused or failed ones */
  says(sum: number, badly: number): string;
  /** Formats a time; default: the full time in the reader's time zone. */
  toText?: (at: string) => string;
}

export function Plot({ counts, split, says, toText = toWhole }: PlotProps) {
  const bars = toBars(counts, split);
  const sumOf = (of: (bar: Bar) => number) => bars.reduce((sum, bar) => sum + of(bar), 0);
  const most = Math.max(1, ...bars.map(bar => bar.well + bar.badly));
  const { since, until, counted_since: from } = counts;
  const badly = sumOf(bar => bar.badly);
  const told = `${says(sumOf(bar => bar.well) + badly, badly)} from ${toText(from)} to ${toText(until)}`;
  const step = WIDTH / bars.length;
  return (
    <figure class="timeline">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={told}
        preserveAspectRatio="none"
      >
        {bars.map((bar, i) => (
          <PlotBar
            key={bar.from}
            bar={bar}
            x={i * step}
            width={step}
            unit={HEIGHT / most}
            toText={toText}
          />
        ))}
      </svg>
      <figcaption>
        {told}
        {from === since ? null : '. There are more before that, which are not counted'}
      </figcaption>
    </figure>
  );
}

interface PlotBarProps {
  bar: Bar;
  x: number;
  width: number;
  unit: number;
  toText: (at: string) => string;
}

function PlotBar({ bar: { from, well, badly }, x, width, unit, toText }: PlotBarProps) {
  if (well + badly === 0) return null;
  const [wellTall, badlyTall] = [well * unit, badly * unit];
  const place = { x, width: width * 0.9 };
  return (
    <g>
      <title>{`${toText(new Date(from).toISOString())}: ${well + badly}${badly > 0 ? `, ${badly} refused or failed` : ''}`}</title>
      <rect class="well" {...place} y={HEIGHT - wellTall} height={wellTall} />
      <rect class="badly" {...place} y={HEIGHT - wellTall - badlyTall} height={badlyTall} />
    </g>
  );
}
