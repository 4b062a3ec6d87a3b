/**
 * Unknown members of a chat completion: signatures of thoughts, reasoning, anything that a compatible server adds to what OpenAI documents.
 * They are sent back with the turn unchanged; for a stream they are assembled here. Pure.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** Members whose text arrives in pieces, recognised by the names that servers use; any other text arrives whole. */
const IN_PIECES = /reason|think|content|text/;

/** An object assembled from the members of successive deltas. */
export class Members {
  readonly #known: ReadonlySet<string>;
  readonly #members = new Map<string, unknown>();

  /** @param known members that are assembled elsewhere */
  constructor(known: ReadonlySet<string>) {
    this.#known = known;
  }

  add(delta: JsonObject): void {
    for (const [key, value] of Object.entries(delta)) {
      if (this.#known.has(key) || value === null || value === undefined) continue;
      this.#members.set(key, grown(key, this.#members.get(key), value));
    }
  }

  get all(): JsonObject {
    return Object.fromEntries(this.#members);
  }
}

function grown(key: string, before: unknown, piece: unknown): unknown {
  if (typeof before === 'string' && typeof piece === 'string') {
    return IN_PIECES.test(key) ? before + piece : piece;
  }
  if (Array.isArray(before) && Array.isArray(piece)) {
    // Appends to our own copy, so that a stream of many pieces takes linear time.
    for (const each of piece) before.push(each);
    return before;
  }
  if (Array.isArray(piece)) return [...(piece as unknown[])];
  if (!isObject(before) || !isObject(piece)) return piece;
  return { ...before, ...piece };
}

/** Drops members without content (null, empty list or empty text), which need not go back. */
export function saying(members: JsonObject): JsonObject {
  const isSaid = ([, value]: [string, unknown]) =>
    value !== null && value !== undefined && value !== '' && !isEmptyList(value);
  return Object.fromEntries(Object.entries(members).filter(isSaid));
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
