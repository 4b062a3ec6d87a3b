/**
 * Gives the patterns of an untrusted schema to the validator so that the validator's own backtracking engine never runs one. A pattern is
 * compiled when it first meets a text, so that unused ones cost nothing, and all patterns of a check share one bound on their steps.
 *
 * The validator looks up formats by name in one table. The table has one name of ours, which stands for the pattern whose name was read
 * last; the validator looks it up right after reading the name, so it finds the right one. Properties by pattern become properties by name:
 * an object's names are collected while the validator checks `propertyNames`, which it does before `properties`.
 */
import { format } from '@cfworker/json-schema';
import { ExpressionRefused } from '../../shared/expressions/expression-parts.ts';
import { toMatcher, type Matcher } from '../../shared/expressions/expression-match.ts';
import { Steps, TooManySteps } from '../../shared/util/steps.ts';
import { mapMembers, setMember } from '../../shared/json/map-members.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { SchemaUnusable } from './schema-unusable.ts';
import { needsUniqueItems } from './unique-items.ts';

/** Steps that matches may take for each step of the validator: some ten milliseconds for arguments. */
const STEPS_FOR_ONE = 25;
/** Cost of looking at an object's names, in steps. */
const NAMES_STEPS = 200;

/** The formats that are checked. Not `url`: the validator's check of it takes time that doubles with each character. */
export const FORMATS: ReadonlySet<string> = new Set(
  Object.keys(format).filter(name => name !== 'url'),
);

const NAME = 'pattern of a schema';

/** Whether the validator's error is about a pattern. */
export const isOfPattern = (error: string): boolean => error.includes(`format "${NAME}"`);

/** Returns the value of `format` for a pattern: reading it as a name registers the pattern under that name. */
const formatOf = (matches: Matcher) => ({
  toString: () => {
    format[NAME] = matches;
    return NAME;
  },
});

/** Removes the pattern once a check is over. */
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
   * @param maxSteps most applications of a schema to a value
   */
  constructor(value: unknown, maxSteps: number) {
    this.#value = value;
    this.#steps = new Steps(maxSteps * STEPS_FOR_ONE);
  }

  /** Returns the value of `uniqueItems` that the validator has to see. @throws SchemaUnusable */
  needsUniqueItems(): boolean {
    this.#needsUniqueItems ??= bounded('uniqueItems', () =>
      needsUniqueItems(this.#value, this.#steps),
    );
    return this.#needsUniqueItems;
  }

  /** Returns the value of `format` that stands for a pattern. */
  toFormat(pattern: string): object {
    return formatOf(text => this.#matches(pattern, text));
  }

  /** Turns the properties by pattern of a copied schema into properties by name, for each object that is checked. */
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
        const checked = { format: formatOf(name => this.#addSchemas(name, patterns, into)) };
        return propertyNames === undefined ? checked : { allOf: [propertyNames, checked] };
      },
    });
  }

  /** Adds the schemas for a name. @returns true, since any name is allowed */
  #addSchemas(name: string, patterns: readonly [string, unknown][], into: JsonObject): true {
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

/** Runs work that may be refused. @throws SchemaUnusable */
function bounded<T>(what: string, work: () => T, source = ''): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof ExpressionRefused || thrown instanceof TooManySteps)) throw thrown;
    const of = source === '' ? '' : `: ${source}`;
    throw new SchemaUnusable(`${what} ${thrown.message}${of}`);
  }
}
