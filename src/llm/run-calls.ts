/**
 * Calls that a model made, put to the gateway like anybody else's: the same names, rights, limits and rows of the audit. What goes wrong
 * with one is the result of that one, in words a model can correct itself by; the others go on.
 */
import type { Caller } from '../access/principal.ts';
import type { ExportedTools } from '../formats/dialect.ts';
import type { HubCall, HubResult } from '../formats/hub.ts';
import type { Gateway, ListedItem, Naming, Reach } from '../gateway/gateway.ts';
import type { CallContext } from '../upstream/call.ts';

/** How many calls of one turn are under way at once. */
export const MAX_PARALLEL_CALLS = 6;

/** The style of names that every dialect takes. */
export const MODEL_NAMING: Naming = { kind: 'qualified', style: 'underscore' };

/** Who calls, within what. */
export interface CallsFor {
  gateway: Gateway;
  caller: Caller;
  reach: Reach;
  context: Pick<CallContext, 'signal' | 'owner' | 'defer'>;
  /** The tools the model was shown, by the name in its dialect. */
  tools: ReadonlyMap<string, ListedItem>;
  /** What leads arguments back to those of the tools (`ExportedTools.toArguments`); absent where the callers did so before. */
  toArguments?: ExportedTools['toArguments'];
}

/** What is told of each call as it goes. */
export interface CallsWatch {
  onStart?(call: HubCall): void;
  onEnd?(call: HubCall, result: HubResult): void;
}
