/**
 * Arguments of a call as the audit keeps them: without secrets, and within a size limit. Pure. A value is removed where the schema marks
 * it, where its name looks like a secret's, and where its own form does; what does not fit is marked as cut.
 *
 * Invariant: the work is bounded, whatever the arguments are.
 */
import { isObject, type JsonObject } from '../protocol.ts';
import { isMarked, placeOf, rootPlace, type Place } from './secret-marks.ts';
import { beginningWithoutSecrets, isSecretName, REDACTED } from './secret-patterns.ts';

/** Most characters of arguments that one row keeps, approximately. */
const MAX_CHARS = 3_072;
/** Longer arguments are not read: only their digest is kept. */
const MAX_READ_CHARS = 65_536;
const MAX_STRING_CHARS = 512;
const MAX_KEY_CHARS = 128;
const MAX_DEPTH = 8;
const CUT = '[cut]';

export interface RedactedArguments {
  /** Absent if the arguments are too long to be read. */
  arguments?: unknown;
  /** Present if not all of them are kept. */
  arguments_cut?: true;
}

/**
 * @param text raw JSON of the arguments
 * @param schema the input schema if it marks secrets, see `secret-marks.ts`
 */
export function redactArguments(text: string, schema: JsonObject | undefined): RedactedArguments {
  if (text.length > MAX_READ_CHARS) return { arguments_cut: true };
  const redaction = new Redaction(schema);
  const kept = redaction.value(JSON.parse(text), rootPlace(schema), MAX_DEPTH);
  return redaction.isCut ? { arguments: kept, arguments_cut: true } : { arguments: kept };
}

/** Returns a short text, such as a name, without secrets and cut to a limit. */
export function redactText(text: string, maxChars: number): string {
  const safe = beginningWithoutSecrets(text, maxChars + 1);
  return safe.length > maxChars ? `${safe.slice(0, maxChars)}${CUT}` : safe;
}

class Redaction {
  isCut = false;
  #room = MAX_CHARS;
  readonly #schema: JsonObject | undefined;

  constructor(schema: JsonObject | undefined) {
    this.#schema = schema;
  }

  value(value: unknown, place: Place, depth: number): unknown {
    if (isMarked(place)) return this.#take(REDACTED);
    if (typeof value === 'string') return this.#string(value);
    if (!isObject(value) && !Array.isArray(value)) return this.#take(value);
    if (depth === 0 || this.#room <= 0) return this.#cut();
    return Array.isArray(value)
      ? this.#list(value, place, depth - 1)
      : this.#object(value, place, depth - 1);
  }

  #string(value: string): string {
    const room = Math.min(MAX_STRING_CHARS, Math.max(this.#room, 0));
    const safe = beginningWithoutSecrets(value, room + 1);
    if (safe.length <= room) return this.#take(safe);
    this.isCut = true;
    return this.#take(`${safe.slice(0, room)}${CUT}`);
  }

  #list(values: readonly unknown[], place: Place, depth: number): unknown[] {
    const kept: unknown[] = [];
    for (const [index, value] of values.entries()) {
      if (this.#room <= 0) return [...kept, this.#cut()];
      kept.push(this.value(value, placeOf(place, index, this.#schema), depth));
    }
    return kept;
  }

  #object(value: JsonObject, place: Place, depth: number): unknown {
    const kept: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value)) {
      if (this.#room <= 0) {
        this.isCut = true;
        break;
      }
      const name = redactText(key, MAX_KEY_CHARS);
      this.#room -= name.length + 4;
      const mayBeSecret = member !== null && typeof member !== 'boolean';
      const isSecret = mayBeSecret && isSecretName(key, typeof member === 'number');
      const inner = placeOf(place, key, this.#schema);
      kept.push([name, isSecret ? this.#take(REDACTED) : this.value(member, inner, depth)]);
    }
    // Defines members, so that one named `__proto__` is a member too.
    return Object.fromEntries(kept);
  }

  #take<T>(value: T): T {
    this.#room -= typeof value === 'string' ? value.length + 3 : 8;
    return value;
  }

  #cut(): string {
    this.isCut = true;
    return this.#take(CUT);
  }
}
