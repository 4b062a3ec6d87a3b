/** A dialect: the format of tools, calls and results in one model API. Pure; the adapters in `models/` send the requests. */
import type { SseEvent } from '../../http/sse-events.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type {
  CanonicalCall,
  CanonicalMessage,
  CanonicalResult,
  CanonicalTool,
} from './canonical-form.ts';
import type { TurnEnd } from './turn-end.ts';

/** The dialects by their names in our API: `?format=`. */
export const FORMATS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;
export type Format = (typeof FORMATS)[number];

/** A conversion warning: something of a tool that the dialect cannot express, and what was done about it. */
export interface ConversionWarning {
  /** The tool's name at the gateway. */
  tool: string;
  /** JSON pointer into the tool's definition: `/name`, `/inputSchema/properties/a/format`. */
  path: string;
  /** `removed`: it was left out; `changed`: it was replaced by something similar. */
  kind: 'removed' | 'changed';
  /** What was done, in one line. */
  detail: string;
}

export interface ExportedTools {
  /** The value of `tools` in a request of the dialect. */
  tools: readonly JsonObject[];
  /** Maps each tool's name in the dialect to its name at the gateway, even where both are equal. */
  names: ReadonlyMap<string, string>;
  warnings: readonly ConversionWarning[];
  /**
   * Converts the arguments that a model gave into those of the tool: restores property names, and drops a null that stands for an omitted
   * property. Returns the same object where the definition's schema equals the tool's in these respects.
   * @param name in the dialect
   */
  toArguments(name: string, given: JsonObject): JsonObject;
}

/** One request to a model, independent of which model and how it is reached. */
export interface TurnRequest {
  /** Trusted text only. */
  system: string;
  messages: readonly CanonicalMessage[];
  /** Absent where the model may not call tools. */
  tools?: ExportedTools;
  /** The answer must be JSON that fits this schema, where the dialect can enforce that. */
  answer?: { name: string; schema: JsonObject };
  maxTokens: number;
}

export interface TokenCount {
  input: number;
  output: number;
}

/** A model's answer. */
export interface TurnReply {
  text: string;
  calls: readonly CanonicalCall[];
  /** For `CanonicalMessage.raw`; undefined where the turn is not whole. */
  raw: unknown;
  /** Calls are made only where it is `calls`. */
  stop: TurnEnd;
  /** As counted by the API; undefined where it reports none. */
  tokens: TokenCount | undefined;
  /** For a `malformed` turn: what was wrong, worded so that the model can correct it. */
  problem?: string;
}

/** Reads the events of a streamed answer, one by one. */
export interface TurnReader {
  /**
   * @returns the text of the event, possibly empty. @throws FormatError where the event is not of the dialect, BrokenOff where it reports a
   * failure
   */
  read(event: SseEvent): string;
  /** @throws BrokenOff where the answer is incomplete */
  end(): TurnReply;
}

export interface ExportOptions {
  /** Whether to enforce the schemas, where dialect and schema allow it. */
  strict: boolean;
  /** Dialect names by gateway names, where these tools are part of a larger set that was named together. */
  names?: ReadonlyMap<string, string>;
}

export interface Dialect {
  readonly format: Format;
  /** Converts tools to definitions that the dialect accepts. Deterministic: the same tools get the same names. */
  toTools(tools: readonly CanonicalTool[], options: ExportOptions): ExportedTools;
  /** Builds the body of a request, without the model's name and streaming options. */
  toRequest(request: TurnRequest): JsonObject;
  /** @throws FormatError */
  fromResponse(body: unknown): TurnReply;
  createReader(): TurnReader;
  /**
   * Reads the calls from whatever a caller has of a model's answer: a whole response, its message, or a list of calls. Calls of a response
   * that did not end with calls are `unmade`. How a bare message or list ended is unknown, so each of its calls must be complete in itself.
   * @throws FormatError where it is none of these
   */
  fromCalls(body: unknown): CanonicalCall[];
  /** Builds the messages that give a model the results, in the order of the calls, to be appended to its conversation. */
  toResults(results: readonly CanonicalResult[]): JsonObject[];
}

/** The data does not have the dialect's format. */
export class FormatError extends Error {}

/** A stream ended before the answer was complete, or reported a failure. */
export class BrokenOff extends FormatError {
  /** What had arrived; its calls are never made. */
  readonly partial: TurnReply;

  constructor(partial: TurnReply) {
    super('The answer broke off');
    this.partial = partial;
  }
}
