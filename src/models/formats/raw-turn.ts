/**
 * A model's turn in the form of its dialect, tagged with the dialect because a conversation may continue with a model of another one. Pure.
 */
import { isObject } from '../../shared/protocol.ts';
import type { Format } from './dialect.ts';

/** Builds a value for `CanonicalMessage.raw`: JSON that can be stored. */
export const toRawTurn = (format: Format, turn: unknown): unknown => ({ format, turn });

/** Returns the turn, if it is of this dialect. */
export function fromRawTurn(format: Format, raw: unknown): unknown {
  return isObject(raw) && raw['format'] === format ? raw['turn'] : undefined;
}
