/**
 * Formats metrics as text for a scraper: in Prometheus' own format (0.0.4), and in OpenMetrics 1.0, which has exemplars. Pure.
 *
 * Source: prometheus.io/docs/instrumenting/exposition_formats; OpenMetrics specification, §5 (counters end in `_total`, their family does
 * not; the text ends with `# EOF`; an exemplar follows its bucket).
 */

export type Labels = Readonly<Record<string, string>>;

/** One value. */
export interface Sample {
  labels: Labels;
  value: number;
  /** Suffix of the name: `_bucket`, `_sum`, `_count`. */
  suffix?: '_bucket' | '_sum' | '_count';
  exemplar?: Exemplar | undefined;
}

/** A request as an example of its bucket. */
export interface Exemplar {
  traceId: string;
  value: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/** One metric; the name of a counter ends in `_total`. */
export interface Family {
  name: string;
  type: 'gauge' | 'counter' | 'histogram';
  help: string;
  samples: readonly Sample[];
}

export interface TextForm {
  type: string;
  isOpenMetrics: boolean;
}

export const PROMETHEUS: TextForm = {
  type: 'text/plain; version=0.0.4; charset=utf-8',
  isOpenMetrics: false,
};
const OPEN_METRICS: TextForm = {
  type: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  isOpenMetrics: true,
};

/** Chooses the format by a scraper's `Accept` header: OpenMetrics where the header names it. */
export const toTextForm = (accept: string | undefined): TextForm =>
  accept?.includes('application/openmetrics-text') ? OPEN_METRICS : PROMETHEUS;

/** Formats all families. */
export function toMetricsText(families: readonly Family[], { isOpenMetrics }: TextForm): string {
  const texts = families.map(family => toFamilyText(family, isOpenMetrics));
  return `${texts.join('')}${isOpenMetrics ? '# EOF\n' : ''}`;
}

function toFamilyText({ name, type, help, samples }: Family, isOpenMetrics: boolean): string {
  const family = isOpenMetrics && type === 'counter' ? name.replace(/_total$/, '') : name;
  const lines = samples.map(sample => {
    const exemplar = isOpenMetrics ? toExemplarText(sample.exemplar) : '';
    return `${name}${sample.suffix ?? ''}${toLabels(sample.labels)} ${sample.value}${exemplar}\n`;
  });
  return `# HELP ${family} ${help}\n# TYPE ${family} ${type}\n${lines.join('')}`;
}

function toLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const toExemplarText = (exemplar: Exemplar | undefined): string =>
  exemplar
    ? ` # {trace_id="${exemplar.traceId}"} ${exemplar.value} ${(exemplar.at / 1_000).toFixed(3)}`
    : '';
