/**
 * Members of a chat completion that this code does not know: signatures of thoughts, reasoning, whatever a compatible server has beside
 * what OpenAI documents. They go back with the turn as they came; of a stream they are put together here. Pure.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';

/** Members whose text comes in pieces, as the names that servers have for it tell; any other text is whole where it comes. */
const IN_PIECES = /reason|think|content|text/;

/** An object that grows by the members of one delta after the other. */
export class Members {
  readonly #known: ReadonlySet<string>;
  readonly #members = new Map<string, unknown>();

  /** @param known members that are put together elsewhere */
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
    // Into the one that is ours: a stream of many pieces costs what they hold.
    for (const each of piece) before.push(each);
    return before;
  }
  if (Array.isArray(piece)) return [...(piece as unknown[])];
  if (!isObject(before) || !isObject(piece)) return piece;
  return { ...before, ...piece };
}

/** The members that say something: what is null, or an empty list or text, need not go back. */
export function saying(members: JsonObject): JsonObject {
  const isSaid = ([, value]: [string, unknown]) =>
    value !== null && value !== undefined && value !== '' && !isEmptyList(value);
  return Object.fromEntries(Object.entries(members).filter(isSaid));
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
