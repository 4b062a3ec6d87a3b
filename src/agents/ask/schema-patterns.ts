/**
 * Patterns of an untrusted schema, put to the validator in a way that its own engine, which goes back and back, never meets one. Each
 * is read when a text first meets it, so that what is not there costs nothing, and all of a check share one bound on their steps.
 *
 * The validator knows formats by name, from one list: a name of ours is in that list, and stands for the pattern that was named last.
 * That is the right one, since it asks right after it has named it. Properties by pattern become properties by name: the names that an
 * object has are told while it looks at `propertyNames`, which it does before it looks at `properties`.
 */
import { format } from '@cfworker/json-schema';
import { ExpressionRefused } from '../../shared/expressions/expression-parts.ts';
import { toMatcher, type Matcher } from '../../shared/expressions/expression-match.ts';
import { Steps, TooManySteps } from '../../shared/util/steps.ts';
import { mapMembers, setMember } from '../../shared/json/map-members.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { SchemaUnusable } from './schema-unusable.ts';
import { needsUniqueItems } from './unique-items.ts';

/** Steps that matches may take for each that the validator may: some ten milliseconds for arguments. */
const STEPS_FOR_ONE = 25;
/** What it costs to look at an object's names. */
const NAMES_STEPS = 200;

/** The formats that are checked. What the validator takes for a `url` it finds in a time that doubles with each character. */
export const FORMATS: ReadonlySet<string> = new Set(
  Object.keys(format).filter(name => name !== 'url'),
);

const NAME = 'pattern of a schema';

/** Whether the validator's error is about a pattern. */
export const isOfPattern = (error: string): boolean => error.includes(`format "${NAME}"`);

/** What stands for a pattern as the value of `format`: whoever reads its name finds the pattern under it. */
const formatOf = (matches: Matcher) => ({
  toString: () => {
    format[NAME] = matches;
    return NAME;
  },
});

/** To be called when a check is over: nothing of it stays. */
export function forgetPattern(): void {
  delete format[NAME];
}

export class SchemaPatterns {
  readonly #steps: Steps;
  readonly #matchers = new Map<string, Matcher>();
  readonly #value: unknown;
  #needsUniqueItems: boolean | undefined;

  /**
   * @param value that is checked
   * @param maxSteps how many schemas may be applied to values
   */
  constructor(value: unknown, maxSteps: number) {
    this.#value = value;
    this.#steps = new Steps(maxSteps * STEPS_FOR_ONE);
  }

  /** The value of `uniqueItems` that the validator has to see. @throws SchemaUnusable */
  needsUniqueItems(): boolean {
    this.#needsUniqueItems ??= bounded('uniqueItems', () =>
      needsUniqueItems(this.#value, this.#steps),
    );
    return this.#needsUniqueItems;
  }

  /** The value of `format` that stands for a pattern. */
  toFormat(pattern: string): object {
    return formatOf(text => this.#matches(pattern, text));
  }

  /** Makes properties by pattern of a copied schema properties by name, as objects come to it. */
  byName(copy: JsonObject): void {
    const { patternProperties, properties, propertyNames } = copy;
    delete copy['patternProperties'];
    const patterns = Object.entries(patternProperties as JsonObject);
    const declared = (properties ?? {}) as JsonObject;
    let met: JsonObject = {};
    Object.defineProperty(copy, 'properties', {
      get: () => {
        this.#spend(NAMES_STEPS + Object.keys(declared).length);
        met = mapMembers(declared, schema => schema);
        return met;
      },
    });
    Object.defineProperty(copy, 'propertyNames', {
      get: () => {
        const into = met;
        const told = { format: formatOf(name => this.#tell(name, patterns, into)) };
        return propertyNames === undefined ? told : { allOf: [propertyNames, told] };
      },
    });
  }

  /** Adds the schemas of a name. @returns true, for a name may be any */
  #tell(name: string, patterns: readonly [string, unknown][], into: JsonObject): true {
    const met = patterns.filter(([pattern]) => this.#matches(pattern, name));
    if (met.length === 0) return true;
    const own = Object.hasOwn(into, name) ? [into[name]] : [];
    const all = [...own, ...met.map(([, schema]) => schema)];
    setMember(into, name, all.length === 1 ? all[0] : { allOf: all });
    return true;
  }

  #spend(steps: number): void {
    bounded('properties by pattern', () => {
      this.#steps.spend(steps);
    });
  }

  #matches(pattern: string, text: string): boolean {
    return bounded(
      'a pattern',
      () => {
        let matcher = this.#matchers.get(pattern);
        if (!matcher) {
          matcher = toMatcher(pattern, this.#steps);
          this.#matchers.set(pattern, matcher);
        }
        return matcher(text);
      },
      pattern,
    );
  }
}

/** What comes of work that may be refused. @throws SchemaUnusable */
function bounded<T>(what: string, work: () => T, source = ''): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof ExpressionRefused || thrown instanceof TooManySteps)) throw thrown;
    const of = source === '' ? '' : `: ${source}`;
    throw new SchemaUnusable(`${what} ${thrown.message}${of}`);
  }
}
