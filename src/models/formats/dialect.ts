/** What a dialect is: one way in which a model's API has tools, calls and results. Pure; who speaks over HTTP is `llm/`. */
import type { SseEvent } from '../../http/sse-events.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type {
  CanonicalCall,
  CanonicalMessage,
  CanonicalResult,
  CanonicalTool,
} from './canonical-form.ts';
import type { TurnEnd } from './turn-end.ts';

/** The dialects by the names they have in the API: `?format=`. */
export const FORMATS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const;
export type Format = (typeof FORMATS)[number];

/** Something of a tool that a dialect cannot say, and what became of it. */
export interface ConversionWarning {
  /** The tool's name at the gateway. */
  tool: string;
  /** JSON pointer into the tool's definition: `/name`, `/inputSchema/properties/a/format`. */
  path: string;
  /** `removed`: it is not there; `changed`: it is there as something near it. */
  kind: 'removed' | 'changed';
  /** What was done, in one line. */
  detail: string;
}

/** Tools in a dialect. */
export interface ExportedTools {
  /** The value of `tools` in a request of the dialect. */
  tools: readonly JsonObject[];
  /** From the name in the dialect to that at the gateway; of every tool, also where both are the same. */
  names: ReadonlyMap<string, string>;
  losses: readonly ConversionWarning[];
  /**
   * The arguments that a model gave for a definition in the dialect, as the tool itself takes them: properties under their own names, no
   * null for what may only be left out. The same object where the definition says what the tool's says.
   * @param name in the dialect
   */
  toArguments(name: string, given: JsonObject): JsonObject;
}

/** A question to a model, but for who is asked and how. */
export interface TurnRequest {
  /** Trusted text only. */
  system: string;
  messages: readonly CanonicalMessage[];
  /** Absent where the model may call nothing. */
  tools?: ExportedTools;
  /** The answer must be JSON that fits this schema, where the dialect can hold the model to it. */
  answer?: { name: string; schema: JsonObject };
  maxTokens: number;
}

export interface TokenCount {
  input: number;
  output: number;
}

/** What a model answered. */
export interface TurnReply {
  text: string;
  calls: readonly CanonicalCall[];
  /** For `HubMessage.raw`; undefined where the turn is not whole. */
  raw: unknown;
  /** Calls are made where it is `calls`, and never else. */
  stop: TurnEnd;
  /** As the API counted; undefined where it does not say. */
  tokens: TokenCount | undefined;
  /** Where it is `malformed`: what was wrong, in words a model can correct itself by. */
  problem?: string;
}

/** Reads the events of a streamed answer, one after the other. */
export interface TurnReader {
  /** @returns the text that came with it, perhaps empty. @throws FormatError where the event is none of the dialect, BrokenOff where it tells of a failure */
  read(event: SseEvent): string;
  /** @throws BrokenOff where the answer was not whole */
  end(): TurnReply;
}

export interface ExportOptions {
  /** The model is to be held to the schemas, where the dialect and the schema allow it. */
  strict: boolean;
  /** Names in the dialect by those at the gateway, where these tools are only some of those that were named together. */
  names?: ReadonlyMap<string, string>;
}

export interface Dialect {
  readonly format: Format;
  /** Definitions, brought down to what the dialect accepts. Deterministic: the same tools give the same names. */
  toTools(tools: readonly CanonicalTool[], options: ExportOptions): ExportedTools;
  /** The body of a request, but for the model's name and for streaming. */
  toRequest(request: TurnRequest): JsonObject;
  /** @throws FormatError */
  fromResponse(body: unknown): TurnReply;
  createReader(): TurnReader;
  /**
   * The calls in what a caller has of a model's answer: a whole response, the message in it, or a list of calls. Those of a response that
   * did not end for them are `unmade`; of a message or a list it is not known how it ended, so calls in them must be whole by themselves.
   * @throws FormatError where it is none of these
   */
  fromCalls(body: unknown): CanonicalCall[];
  /** The messages that tell a model of results, in the order of the calls; to be appended to its conversation. */
  toResults(results: readonly CanonicalResult[]): JsonObject[];
}

/** What came is not what the dialect has. */
export class FormatError extends Error {}

/** A stream ended before the answer was whole, or told of a failure. */
export class BrokenOff extends FormatError {
  /** What had come of it; its calls are never made. */
  readonly partial: TurnReply;

  constructor(partial: TurnReply) {
    super('The answer broke off');
    this.partial = partial;
  }
}
