/** Reads JSON from a model's API and checks it against a schema before use. Pure. */
import { z } from 'zod';
import { parseWithin } from '../../shared/json/json-spans.ts';
import { FormatError } from './dialect.ts';

/** Longest text of a streamed answer including its calls, in UTF-16 units. */
export const MAX_STREAMED_CHARS = 4_000_000;

/** Checks a value. @throws FormatError that names what was read, without any of its content */
export function readAs<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new FormatError(`${what} has an unexpected form at ${issue?.path.join('.') || 'its root'}`);
}

/** Checks a value but returns it unchanged: members stay in order, including those unknown to the schema. */
export const asItCame = <T>(schema: z.ZodType<T>): z.ZodType<T> =>
  z.custom<T>(value => schema.safeParse(value).success);

/** @throws FormatError */
export function parseAs<T>(schema: z.ZodType<T>, text: string, what: string): T {
  return readAs(schema, parseJson(text, what), what);
}

/** @throws FormatError */
export function parseJson(text: string, what: string): unknown {
  try {
    return parseWithin(text);
  } catch {
    throw new FormatError(`${what} is not valid JSON`);
  }
}

/** Text that arrives in pieces. */
export class Pieces {
  #pieces: string[] = [];
  #chars = 0;

  /** @throws FormatError where there is too much */
  add(piece: string): void {
    this.#chars += piece.length;
    if (this.#chars > MAX_STREAMED_CHARS) throw new FormatError('The answer is too long');
    this.#pieces.push(piece);
  }

  get text(): string {
    return this.#pieces.join('');
  }
}
