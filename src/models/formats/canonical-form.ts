/**
 * MCP is the canonical form of all dialects: tools, calls and results as MCP has them, and a conversation around them. Each dialect is translated
 * to these and from these, never to another dialect.
 */
import type { JsonObject } from '../../shared/protocol.ts';

/** A tool as MCP describes it. */
export interface CanonicalTool {
  /** The name it is called by at the gateway. */
  name: string;
  description?: string;
  /** JSON Schema 2020-12 of its arguments. */
  inputSchema: JsonObject;
}

/** A call as a model made it, under the name the model was given. */
export interface CanonicalCall {
  /** The model's id of it, or one that was made where the dialect has none. */
  id: string;
  /** The name in the dialect: `ExportedTools.names` leads to that at the gateway. */
  name: string;
  /** Undefined where they cannot be read, and `problem` says why. */
  arguments: JsonObject | undefined;
  /** What is wrong with the call as it was written, in words a model can correct itself by. */
  problem?: string;
  /** Why it is never made: its turn did not end as one that waits for results. It has no arguments then. */
  unmade?: Unfinished;
}

/** Why a turn is not whole. `length`: it was cut; `refused`: the model would not, or was filtered; `interrupted`: anything else. */
export const UNFINISHED = ['length', 'refused', 'interrupted'] as const;
export type Unfinished = (typeof UNFINISHED)[number];

/** What became of a call. */
export interface CanonicalResult {
  id: string;
  /** The name in the dialect. */
  name: string;
  /** A result of `tools/call`: content, isError, structuredContent. */
  result: JsonObject;
}

/** One turn of a conversation. */
export type CanonicalMessage =
  | {
      role: 'user';
      text: string;
      /** It is ours and not the user's: a word to the model on its last turn, which was cut or made a call that nobody could read. */
      note?: 'cut' | 'malformed';
    }
  | {
      role: 'assistant';
      text: string;
      calls: readonly CanonicalCall[];
      /** The turn in the dialect's own form, sent back as it came: signatures of thoughts live there. */
      raw?: unknown;
      /** The API wants it back to go on with it: nobody has answered yet. */
      isPaused?: true;
    }
  | { role: 'tools'; results: readonly CanonicalResult[] };
