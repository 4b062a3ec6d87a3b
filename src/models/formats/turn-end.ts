/**
 * How a model's turn ended. This is decided before anything is done with its calls: they are made only if the turn ended with its API's
 * reason for calls. A turn that was cut or filtered may contain half a call, and half a call can look like a whole one. Pure.
 */
import type { Unfinished } from './canonical-form.ts';

/**
 * `end`: it is done; `calls`: it waits for results; `paused`: the API wants it back unchanged, to continue; `malformed`: it made a call
 * that its API could not read; `length`: it was cut; `refused`: the model refused, or was filtered; `interrupted`: it stopped for another
 * reason.
 */
export type TurnEnd = 'end' | 'calls' | 'paused' | 'malformed' | Unfinished;

/**
 * Meaning of an API's finish reason. `own`: the normal end, with or without calls; `calls`: the end for calls only; `end`: the end without
 * calls. The others are as in `TurnEnd`.
 */
export type EndReason = 'own' | Exclude<TurnEnd, 'interrupted'>;

/** @param reason undefined where it is missing or unknown; such a turn is never whole */
export function toTurnEnd(reason: EndReason | undefined, calls: number): TurnEnd {
  if (reason === undefined) return 'interrupted';
  if (reason === 'own' || reason === 'calls') return calls > 0 ? 'calls' : 'end';
  // Calls together with a reason that excludes calls: one of the two is wrong.
  if (reason === 'end' || reason === 'paused') return calls > 0 ? 'interrupted' : reason;
  return reason;
}

/** Returns why the calls of a turn are not made; undefined where they are. */
export function unfinishedOf(end: TurnEnd): Unfinished | undefined {
  if (end === 'calls') return undefined;
  return end === 'length' || end === 'refused' ? end : 'interrupted';
}

/** Tells whether a turn may be sent back as it came: what was cut or filtered may contain something that the API refuses. */
export const isWhole = (end: TurnEnd): boolean =>
  end === 'end' || end === 'calls' || end === 'paused';

const NOT_MADE: Readonly<Record<Unfinished, string>> = {
  length:
    'This call was not made: the answer that contains it was cut off at the maximum length, so the call may be incomplete. Call again, with less in one answer.',
  refused:
    'This call was not made: the answer that contains it was refused or filtered by the API of the model.',
  interrupted:
    'This call was not made: the answer that contains it is incomplete. Call again if the call is still needed.',
};

/** Returns the text that replaces the result of a call that is not made. */
export const toNotMade = (why: Unfinished): string => NOT_MADE[why];

/** Joins the finish reasons of a stream that may send several; two different ones give an unknown reason. */
export const joinReasons = (
  before: string | undefined,
  now: string | undefined | null,
): string | undefined =>
  before === undefined || !now || before === now ? now || before : `${before}, ${now}`;
