/** Formats the findings as Markdown. Pure. */
import { features } from './features.ts';
import type { Fidelity, Outcome } from './fidelity.ts';
import type { Gateway } from './gateway.ts';
import type { ListCost } from './list-cost.ts';
import type { Recovery } from './recovery.ts';
import type { Speed } from './speed.ts';

/** The machine, the date and the settings of the run. */
export interface Circumstances {
  date: string;
  cores: number;
  processor: string;
  memoryGiB: number;
  node: string;
  /** Load of the machine before the run, caused by other programs. */
  loadBefore: number;
  minutes: number;
  rounds: number;
  sliceMs: number;
}

/** All results of a run. */
export interface Findings {
  circumstances: Circumstances;
  gateways: readonly Gateway[];
  fidelity: { name: string; legacy: Fidelity; modern: Fidelity }[];
  speeds: readonly Speed[];
  memory: { name: string; idle: number; loaded: number }[];
  recoveries: { name: string; recovery: Recovery | undefined }[];
  lists: readonly ListCost[];
  failures: readonly string[];
}

const SIGNS: Record<Outcome, string> = {
  works: 'works',
  lost: 'lost',
  error: 'error',
  unseen: '—',
};
const toMs = (value: number) => `${value < 100 ? value.toFixed(2) : value.toFixed(0)} ms`;
const toCount = (value: number) => Math.round(value).toLocaleString('en-US');
const toCell = (text: string) => text.replaceAll('|', '\\|');

/** A Markdown table; the first columns are aligned left, the rest right. */
export function toTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  left = 1,
): string {
  const line = (cells: readonly string[]) => `| ${cells.map(toCell).join(' | ')} |`;
  const rule = headings.map((_, column) => (column < left ? '---' : '---:'));
  return [line(headings), line(rule), ...rows.map(line)].join('\n');
}

function toFidelity(fidelity: Findings['fidelity']): string {
  const sums = fidelity.map(({ legacy, modern }) =>
    [legacy, modern]
      .map(({ outcomes }) => outcomes.filter(outcome => outcome === 'works').length)
      .join(' / '),
  );
  const rows = features.map(({ name }, at) => [
    name,
    ...fidelity.map(({ legacy, modern }) => {
      const [old = 'unseen', now = 'unseen'] = [legacy.outcomes[at], modern.outcomes[at]];
      return old === now ? SIGNS[old] : `${SIGNS[old]} / ${SIGNS[now]}`;
    }),
  ]);
  return toTable(
    ['Legacy / modern', ...fidelity.map(({ name }) => name)],
    [...rows, [`works, of ${features.length}`, ...sums]],
  );
}

const toSpeedRow = (speed: Speed) => [
  speed.name,
  String(speed.clients),
  toMs(speed.p50Ms),
  toMs(speed.p95Ms),
  speed.times.toFixed(2),
  toCount(speed.perSecond),
  speed.share.toFixed(2),
];

function toRecoveryRow({ name, recovery }: Findings['recoveries'][number]): string[] {
  if (!recovery) return [name, '—', '—', 'runs its upstream itself'];
  const took = recovery.tookMs === undefined ? 'not within 20 s' : toMs(recovery.tookMs);
  return [name, took, recovery.by, recovery.told];
}

const toReasons = (fidelity: Findings['fidelity']) =>
  fidelity.flatMap(({ name, legacy, modern }) =>
    [
      ['legacy', legacy],
      ['modern', modern],
    ].flatMap(([era, found]) =>
      (found as Fidelity).reasons.map(
        reason => `- ${name}, ${String(era)}: ${reason.replaceAll(/\s+/gu, ' ').slice(0, 160)}`,
      ),
    ),
  );

/** The whole report. */
export function toReport(findings: Findings): string {
  const { circumstances: on, gateways } = findings;
  const parts = [
    `${on.date}, ${on.cores} cores (${on.processor}), ${on.memoryGiB} GiB, Node ${on.node}; load before the run ${on.loadBefore.toFixed(2)}; it took ${on.minutes.toFixed(1)} minutes.`,
    toTable(
      ['Gateway', 'Version', 'Upstreams', 'Set up'],
      gateways.map(({ name, version, joins, caveat }) => [
        name,
        version,
        joins ? 'many' : 'one',
        caveat,
      ]),
      4,
    ),
    '## What reaches a client',
    toFidelity(findings.fidelity),
    '## Latency and throughput',
    toTable(
      ['`tools/call`', 'Clients', 'p50', 'p95', 'of direct', 'calls/s', 'of direct'],
      findings.speeds.map(toSpeedRow),
    ),
    `Medians of ${on.rounds} interleaved rounds of ${on.sliceMs} ms.`,
    '## Memory',
    toTable(
      ['Resident', 'idle', 'after the load'],
      findings.memory.map(({ name, idle, loaded }) => [
        name,
        `${toCount(idle)} MiB`,
        `${toCount(loaded)} MiB`,
      ]),
    ),
    '## After a crash of the upstream',
    toTable(
      ['Gateway', 'first good call', 'by', 'told meanwhile'],
      findings.recoveries.map(toRecoveryRow),
      4,
    ),
    '## What a list of tools costs',
    toTable(
      ['`tools/list`', 'Tools', 'Tokens', 'Time'],
      findings.lists.map(({ name, tools, tokens, tookMs }) => [
        name,
        toCount(tools),
        toCount(tokens),
        toMs(tookMs),
      ]),
    ),
    ...(findings.failures.length > 0
      ? ['## What could not be measured', findings.failures.map(one => `- ${one}`).join('\n')]
      : []),
    '## Why a feature does not work',
    toReasons(findings.fidelity).join('\n') || 'All of them do.',
  ];
  return `${parts.join('\n\n')}\n`;
}
