/** A model's turn in the form of its dialect, marked with it: a conversation may go on with a model of another dialect. Pure. */
import { isObject } from '../../shared/protocol.ts';
import type { Format } from './dialect.ts';

/** For `HubMessage.raw`: JSON that can be stored. */
export const toRawTurn = (format: Format, turn: unknown): unknown => ({ format, turn });

/** The turn, where it is one of this dialect. */
export function fromRawTurn(format: Format, raw: unknown): unknown {
  return isObject(raw) && raw['format'] === format ? raw['turn'] : undefined;
}
