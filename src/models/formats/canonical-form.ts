/**
 * MCP is the canonical form of all dialects: tools, calls and results as in MCP, with a conversation around them. Each dialect is
 * translated to and from this form, never directly to another dialect.
 */
import type { JsonObject } from '../../shared/protocol.ts';

/** A tool as described by MCP. */
export interface CanonicalTool {
  /** Its name at the gateway. */
  name: string;
  description?: string;
  /** JSON Schema 2020-12 of its arguments. */
  inputSchema: JsonObject;
}

/** A call made by a model, under the name that the model was given. */
export interface CanonicalCall {
  /** The model's id of the call, or a generated one where the dialect has none. */
  id: string;
  /** Its name in the dialect; `ExportedTools.names` maps it to the name at the gateway. */
  name: string;
  /** Undefined where they cannot be read; `problem` then says why. */
  arguments: JsonObject | undefined;
  /** What is wrong with the call, worded so that the model can correct it. */
  problem?: string;
  /** Why the call is never made: its turn did not end in a way that waits for results. It then has no arguments. */
  unmade?: Unfinished;
}

/** Why a turn is not whole. `length`: it was cut; `refused`: the model refused, or was filtered; `interrupted`: anything else. */
export const UNFINISHED = ['length', 'refused', 'interrupted'] as const;
export type Unfinished = (typeof UNFINISHED)[number];

/** The result of a call. */
export interface CanonicalResult {
  id: string;
  /** Its name in the dialect. */
  name: string;
  /** A result of `tools/call`: content, isError, structuredContent. */
  result: JsonObject;
}

/** One turn of a conversation. */
export type CanonicalMessage =
  | {
      role: 'user';
      text: string;
      /**
       * Set where the text is the gateway's, not the user's: it tells the model that its last turn was cut or contained an unreadable call.
       */
      note?: 'cut' | 'malformed';
    }
  | {
      role: 'assistant';
      text: string;
      calls: readonly CanonicalCall[];
      /** The turn in the dialect's own form, sent back unchanged because it holds the signatures of thoughts. */
      raw?: unknown;
      /** Whether the API wants the turn back to continue it; nothing has been answered yet. */
      isPaused?: true;
    }
  | { role: 'tools'; results: readonly CanonicalResult[] };
