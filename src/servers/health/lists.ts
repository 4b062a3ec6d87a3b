/** What a look says of the lists it could not read. Pure. */
import type { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';

/** Lists of a server that could not be read at the last look. */
export interface MissedLists {
  reason: ErrorCode;
  /** One line for people, without addresses or secrets. */
  detail: string;
  /** Looks in a row that missed one. */
  times: number;
}

/** What a look found beside items. */
export interface LookNotes {
  /** What it left out. */
  warning: string | null;
  /** The catalog is another than before. */
  isNew: boolean;
  missed: readonly PorticoError[];
}

/** @param before of the look before it */
export function toMissedLists(
  missed: LookNotes['missed'],
  before: MissedLists | null,
): MissedLists | null {
  const [first] = missed;
  if (!first) return null;
  const detail = `${first.code}: ${missed.map(({ message }) => message).join('; ')}`;
  return { reason: first.code, detail, times: (before?.times ?? 0) + 1 };
}
