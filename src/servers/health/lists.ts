/** The lists that a discovery could not read. Pure. */
import type { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';

/** Lists of a server that the last discovery could not read. */
export interface MissedLists {
  reason: ErrorCode;
  /** One line for people, without addresses or secrets. */
  detail: string;
  /** Discoveries in a row that missed a list. */
  times: number;
}

/** Findings of a discovery besides the items. */
export interface DiscoveryNotes {
  /** What the discovery left out. */
  warning: string | null;
  /** The catalog differs from the previous one. */
  isNew: boolean;
  missed: readonly PorticoError[];
}

/** @param before of the previous discovery */
export function toMissedLists(
  missed: DiscoveryNotes['missed'],
  before: MissedLists | null,
): MissedLists | null {
  const [first] = missed;
  if (!first) return null;
  const detail = `${first.code}: ${missed.map(({ message }) => message).join('; ')}`;
  return { reason: first.code, detail, times: (before?.times ?? 0) + 1 };
}
