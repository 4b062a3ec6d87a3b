/**
 * How a model's turn ended. This decides first what becomes of its calls: they are made only where the turn ended by the reason that its
 * API has for calls. A turn that was cut or filtered may hold half a call, and half a call can look like a whole one. Pure.
 */
import type { Unfinished } from './canonical-form.ts';

/**
 * `end`: it is done; `calls`: it waits for results; `paused`: the API wants it back as it is, to go on; `malformed`: it made a call that
 * its API could not read; `length`: it was cut; `refused`: it would not, or was filtered; `interrupted`: it stopped for another reason.
 */
export type TurnEnd = 'end' | 'calls' | 'paused' | 'malformed' | Unfinished;

/**
 * What the reason that an API gives stands for. `own`: its end, with calls or without; `calls`: its end for calls alone; `end`: its end
 * without calls. The others are as in `TurnEnd`.
 */
export type EndReason = 'own' | Exclude<TurnEnd, 'interrupted'>;

/** @param reason undefined where none was given, or one that is not known: such a turn is never whole */
export function toTurnEnd(reason: EndReason | undefined, calls: number): TurnEnd {
  if (reason === undefined) return 'interrupted';
  if (reason === 'own' || reason === 'calls') return calls > 0 ? 'calls' : 'end';
  // Calls beside a reason that is none for calls: one of the two is not true.
  if (reason === 'end' || reason === 'paused') return calls > 0 ? 'interrupted' : reason;
  return reason;
}

/** Why the calls of a turn are not made; undefined where they are. */
export function unfinishedOf(end: TurnEnd): Unfinished | undefined {
  if (end === 'calls') return undefined;
  return end === 'length' || end === 'refused' ? end : 'interrupted';
}

/** Whether a turn may go back as it came: what was cut or filtered may hold what the API refuses to take. */
export const isWhole = (end: TurnEnd): boolean =>
  end === 'end' || end === 'calls' || end === 'paused';

const NOT_MADE: Readonly<Record<Unfinished, string>> = {
  length:
    'This call was not made: the answer that it stands in was cut off at its longest length, so the call may not be whole. Call again, with less in one answer.',
  refused:
    'This call was not made: the answer that it stands in was refused or filtered by its API.',
  interrupted:
    'This call was not made: the answer that it stands in did not end as a whole one does. Call again where it is still wanted.',
};

/** Told in place of the result of a call that is not made. */
export const toNotMade = (why: Unfinished): string => NOT_MADE[why];

/** One reason of a stream that may give one more than once: two that differ are none that is known. */
export const joinReasons = (
  before: string | undefined,
  now: string | undefined | null,
): string | undefined =>
  before === undefined || !now || before === now ? now || before : `${before}, ${now}`;
