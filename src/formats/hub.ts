/**
 * MCP is the hub of all dialects: tools, calls and results as MCP has them, and a conversation around them. Each dialect is translated
 * to these and from these, never to another dialect.
 */
import type { JsonObject } from '../protocol.ts';

/** A tool as MCP describes it. */
export interface HubTool {
  /** The name it is called by at the gateway. */
  name: string;
  description?: string;
  /** JSON Schema 2020-12 of its arguments. */
  inputSchema: JsonObject;
}

/** A call as a model made it, under the name the model was given. */
export interface HubCall {
  /** The model's id of it, or one that was made where the dialect has none. */
  id: string;
  /** The name in the dialect: `ExportedTools.names` leads to that at the gateway. */
  name: string;
  /** Undefined where they cannot be read, and `problem` says why. */
  arguments: JsonObject | undefined;
  /** What is wrong with the call as it was written, in words a model can correct itself by. */
  problem?: string;
}

/** What became of a call. */
export interface HubResult {
  id: string;
  /** The name in the dialect. */
  name: string;
  /** A result of `tools/call`: content, isError, structuredContent. */
  result: JsonObject;
}

/** One turn of a conversation. */
export type HubMessage =
  | { role: 'user'; text: string }
  | {
      role: 'assistant';
      text: string;
      calls: readonly HubCall[];
      /** The turn in the dialect's own form, sent back as it came: signatures of thoughts live there. */
      raw?: unknown;
    }
  | { role: 'tools'; results: readonly HubResult[] };
