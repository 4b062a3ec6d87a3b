/** Adds up calls to the usage of their days. Pure. */
import type { NameParts } from '../../shared/naming/qualified-name.ts';
import { parseQualifiedUri } from '../../shared/naming/qualified-uri.ts';
import { toDay } from '../../shared/util/utc-day.ts';
import type { AuditEvent } from '../audit-schema.ts';

export const DIMENSIONS = ['day', 'principal', 'token', 'group', 'server', 'tool'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Calls with the same key are counted together. */
export interface UsageKey {
  day: string;
  principalId: string;
  tokenId: string;
  action: string;
  /** Empty if the call was refused before its server was known. */
  serverId: string;
  /** The server's own name of a tool or prompt; empty for resources, and if the server is not known. */
  tool: string;
}

/** Upper bounds of the counted duration ranges, in milliseconds. */
export const STEPS_MS = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;

/** Names of the sums over calls, as in the columns. */
export const SUMS = [
  'calls',
  'errors',
  'denied',
  'cancelled',
  'unknown',
  'cached',
  'argument_chars',
  'result_chars',
  'timed',
  'ms',
  ...STEPS_MS.map(ms => `to_${ms}` as const),
] as const;
export type UsageSums = Record<(typeof SUMS)[number], number>;

/** The sums over calls with one key. */
export interface UsageCell extends UsageKey {
  /** The server's name at the time of the call. */
  server: string;
  sums: UsageSums;
  maxMs: number;
}

/** Whether this is a call stored when it left, whose end is not known. */
export const isOpen = ({ outcome }: Pick<AuditEvent, 'outcome'>): boolean => outcome === 'unknown';

/**
 * Adds up calls.
 * @param wasOpen whether the sums already contain the call with this id, without its end
 */
export function toCells(
  events: readonly AuditEvent[],
  wasOpen: (id: string) => boolean = () => false,
): UsageCell[] {
  const cells = new Map<string, UsageCell>();
  for (const event of events) {
    const of = toKey(event);
    const { day, principalId, tokenId, action, serverId, tool } = of;
    const key = JSON.stringify([day, principalId, tokenId, action, serverId, tool]);
    let cell = cells.get(key);
    if (!cell) cells.set(key, (cell = emptyCell(of)));
    if (of.server !== '') cell.server = of.server;
    addCall(cell, event, wasOpen(event.id));
  }
  return [...cells.values()];
}

/** Returns what one call adds. */
export function toCell(event: AuditEvent): UsageCell {
  const cell = emptyCell(toKey(event));
  addCall(cell, event, false);
  return cell;
}

type NamedKey = UsageKey & Pick<UsageCell, 'server'>;

const emptyCell = (key: NamedKey): UsageCell => ({ ...key, sums: { ...NONE }, maxMs: 0 });

function toKey({ at, principalId, tokenId, action, subject, detail }: AuditEvent): NamedKey {
  const serverId = typeof detail['server'] === 'string' ? detail['server'] : '';
  const { server, tool } = serverId === '' ? { server: '', tool: '' } : partsOf(action, subject);
  return { day: toDay(at), principalId, tokenId, action, serverId, tool, server };
}

/** Adds a call to the cell of its key. @param wasOpen whether the sums already contain it, without its end */
function addCall(cell: UsageCell, { outcome, detail }: AuditEvent, wasOpen: boolean): void {
  const { sums } = cell;
  const ms = toNumber(detail['duration_ms']);
  sums.calls += count(!wasOpen);
  sums.errors += count(outcome === 'failed' || detail['is_error'] === true);
  sums.denied += count(outcome === 'denied');
  sums.cancelled += count(outcome === 'cancelled');
  sums.unknown += count(outcome === 'unknown') - count(wasOpen);
  sums.cached += count(detail['cached'] === true);
  // The entry stored when it left already counted its arguments.
  sums.argument_chars += wasOpen ? 0 : (toNumber(detail['argument_chars']) ?? 0);
  sums.result_chars += toNumber(detail['result_chars']) ?? 0;
  if (ms === undefined) return;
  sums.timed += 1;
  sums.ms += ms;
  const step = STEPS_MS.find(end => ms <= end);
  if (step !== undefined) sums[`to_${step}`] += 1;
  cell.maxMs = Math.max(cell.maxMs, ms);
}

const NONE = Object.fromEntries(SUMS.map(name => [name, 0])) as UsageSums;
const count = (is: boolean): number => (is ? 1 : 0);

/** Reads a duration or a size; a row that was tampered with may hold anything. */
const toNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER / 2 ** 20
    ? Math.round(value)
    : undefined;

/** Resources are counted under their server only: there may be any number of them. */
const partsOf = (action: string, subject: string): NameParts =>
  action === 'resource.read'
    ? { server: parseQualifiedUri(subject)?.server ?? '', tool: '' }
    : splitSubject(subject);

/** Returns the server and the tool or prompt in the subject of a call. */
export function splitSubject(subject: string): NameParts {
  const at = subject.indexOf('.');
  return { server: subject.slice(0, Math.max(0, at)), tool: subject.slice(at + 1) };
}
