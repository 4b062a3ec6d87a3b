/** How the HTTP APIs of models differ apart from their dialect: paths, headers, streaming, embeddings. One small file for each API. */
import type { Dialect } from './formats/dialect.ts';
import type { JsonObject } from '../shared/protocol.ts';

export interface HttpApi {
  readonly dialect: Dialect;
  /** The public address, including the version, without a trailing slash. */
  readonly publicUrl: string;
  /** Path below the address; begins with a slash. */
  toPath(model: string, isStreamed: boolean): string;
  toHeaders(key: string | undefined): Record<string, string>;
  /** Members of a request besides those of the dialect. */
  toExtras(model: string, isStreamed: boolean): JsonObject;
  /** Tells whether a response with status 400 means that the key is wrong. */
  isKeyRefusal?(body: string): boolean;
  readonly embeddings?: EmbeddingsApi;
}

export interface EmbeddingsApi {
  /** Most texts per request. */
  readonly maxTexts: number;
  toPath(model: string): string;
  toBody(model: string, texts: readonly string[]): JsonObject;
  /** @returns one vector per text, in their order; undefined where the answer has another form */
  fromBody(body: unknown): number[][] | undefined;
}
