/** What the HTTP APIs of models differ in beside their dialect: paths, headers, what streams, embeddings. One small file for each. */
import type { Dialect } from './formats/dialect.ts';
import type { JsonObject } from '../shared/protocol.ts';

export interface HttpApi {
  readonly dialect: Dialect;
  /** Where it is publicly, with its version, without a trailing slash. */
  readonly publicUrl: string;
  /** Behind the address; begins with a slash. */
  toPath(model: string, isStreamed: boolean): string;
  toHeaders(key: string | undefined): Record<string, string>;
  /** Members of a request beside those of the dialect. */
  toExtras(model: string, isStreamed: boolean): JsonObject;
  /** Whether an answer of 400 says that the key is not right. */
  isKeyRefusal?(body: string): boolean;
  readonly embeddings?: EmbeddingsApi;
}

export interface EmbeddingsApi {
  /** Most texts of one request. */
  readonly maxTexts: number;
  toPath(model: string): string;
  toBody(model: string, texts: readonly string[]): JsonObject;
  /** @returns one vector for each text, in their order; undefined where the answer has another form */
  fromBody(body: unknown): number[][] | undefined;
}
