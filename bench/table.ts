/** From samples to the published table. Pure: owns the summary (medians over rounds, ratios of paired slices) and its text. */
import { percentile } from './load.ts';
import type { Sample } from './load.ts';
import { median } from './statistics.ts';

export interface Summary {
  p50Ms: number;
  p99Ms: number;
  requestsPerSecond: number;
}

export interface Row {
  request: string;
  clients: number;
  relay: Summary;
  portico: Summary;
  /** Median over rounds of Portico's p50 divided by the relay's of the same round. */
  p50Ratio: number;
  /** Median over rounds of Portico's requests per second divided by the relay's. */
  throughputRatio: number;
}

/** One round of one row: two slices in immediate succession. */
export interface Pair {
  relay: Summary;
  portico: Summary;
}

/** Names of the two compared sides. */
const SIDES = ['Relay', 'Portico'] as const;

const toHeadings = (sides: readonly [string, string]): string[] => [
  'Request',
  'Clients',
  ...sides.map(side => `${side} p50`),
  'Ratio',
  ...sides.map(side => `${side} p99`),
  ...sides.map(side => `${side} req/s`),
  'Ratio',
];

/** Reduces a slice to its reported figures. */
export function toSummary({ latenciesMs, elapsedMs }: Sample): Summary {
  return {
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    requestsPerSecond: (latenciesMs.length / elapsedMs) * 1_000,
  };
}

function medianSummary(summaries: Summary[]): Summary {
  return {
    p50Ms: median(summaries.map(summary => summary.p50Ms)),
    p99Ms: median(summaries.map(summary => summary.p99Ms)),
    requestsPerSecond: median(summaries.map(summary => summary.requestsPerSecond)),
  };
}

/** Medians over the rounds of one request and number of clients. */
export function toRow(request: string, clients: number, pairs: Pair[]): Row {
  return {
    request,
    clients,
    relay: medianSummary(pairs.map(pair => pair.relay)),
    portico: medianSummary(pairs.map(pair => pair.portico)),
    p50Ratio: median(pairs.map(({ relay, portico }) => portico.p50Ms / relay.p50Ms)),
    throughputRatio: median(
      pairs.map(({ relay, portico }) => portico.requestsPerSecond / relay.requestsPerSecond),
    ),
  };
}

const toMs = (value: number): string => `${value.toFixed(2)} ms`;
/** Two decimals; below 0.1 two significant digits. */
const toRatio = (value: number): string => (value < 0.1 ? value.toPrecision(2) : value.toFixed(2));
const toCount = (value: number): string => Math.round(value).toLocaleString('en-US');

/** Aligned Markdown, both printed and written. */
export function toTable(rows: Row[], sides: readonly [string, string] = SIDES): string {
  const headings = toHeadings(sides);
  const cells = rows.map(row => [
    row.request,
    String(row.clients),
    toMs(row.relay.p50Ms),
    toMs(row.portico.p50Ms),
    row.p50Ratio.toFixed(2),
    toMs(row.relay.p99Ms),
    toMs(row.portico.p99Ms),
    toCount(row.relay.requestsPerSecond),
    toCount(row.portico.requestsPerSecond),
    toRatio(row.throughputRatio),
  ]);
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map(line => line[column]?.length ?? 0)),
  );
  const toCell = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  const toLine = (line: string[]): string => `| ${line.map(toCell).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [toLine(headings), toLine(rule), ...cells.map(toLine)].join('\n');
}
