/**
 * Whether a value fits a JSON Schema that somebody else wrote. Pure. It checks what it knows and refuses the rest: a schema that is
 * malformed, refers to what is not in it, uses a keyword whose meaning is not checked here, or makes too much work, is `unusable`, which
 * is never taken for a fit. Drafts 2020-12 (as MCP has it where nothing is said), 2019-09 and 7.
 *
 * The validator reads `$recursiveAnchor` of each schema once for each value it checks by it; a getter there counts these steps, so that
 * references that multiply or never end are stopped. Of a schema only a copy with the keywords that are known reaches the validator.
 */
import { validate, type Schema, type SchemaDraft } from '@cfworker/json-schema';
import { isObject, type JsonObject } from '../protocol.ts';
import { toOneLine } from '../lib/one-line.ts';
import { isTamePattern } from './tame-pattern.ts';

export type SchemaFit =
  { fit: 'fits' } | { fit: 'differs'; detail: string } | { fit: 'unusable'; detail: string };

/** Most schemas within one schema, and how deep they may stand. */
const MAX_SCHEMAS = 5_000;
const MAX_DEPTH = 64;
/** Of an array whose elements have to be unique each is compared with each. */
const MAX_UNIQUE = 500;
const MAX_DETAIL_CHARS = 300;

type Form =
  | 'schema'
  | 'schemas'
  | 'items'
  | 'map'
  | 'dependencies'
  | 'number'
  | 'text'
  | 'texts'
  | 'flag'
  | 'any'
  | 'list'
  | 'types'
  | 'textMap';

/** The keywords that are checked, by the form of their value. Others only describe, and are left out. */
const BY_FORM: Readonly<Record<Form, string>> = {
  schema:
    'not if then else additionalProperties unevaluatedProperties propertyNames additionalItems unevaluatedItems contains',
  schemas: 'anyOf allOf oneOf prefixItems',
  items: 'items',
  map: '$defs definitions properties patternProperties dependentSchemas',
  dependencies: 'dependencies',
  number:
    'minProperties maxProperties minContains maxContains minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength',
  text: '$id $ref $anchor format pattern',
  texts: 'required',
  flag: 'uniqueItems',
  any: 'const',
  list: 'enum',
  types: 'type',
  textMap: 'dependentRequired',
};
const FORMS: ReadonlyMap<string, Form> = new Map(
  Object.entries(BY_FORM).flatMap(([form, keywords]) =>
    keywords.split(' ').map(keyword => [keyword, form as Form] as const),
  ),
);
/** What refers to a schema in ways that the validator does not follow, or is its own. */
const UNCHECKED = /^(?:\$dynamicRef|\$dynamicAnchor|\$recursiveRef|\$recursiveAnchor|__)/;
const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);
const DRAFTS: readonly (readonly [RegExp, SchemaDraft])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, '2020-12'],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, '2019-09'],
  [/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, '7'],
];

class Unusable extends Error {}

/**
 * @param schema untrusted
 * @param maxSteps how many schemas may be applied to values
 */
export function checkSchema(schema: unknown, value: unknown, maxSteps: number): SchemaFit {
  try {
    const draft = draftOf(schema);
    const copy = new Copier(longestText(value), maxSteps).copy(schema, MAX_DEPTH);
    const { valid, errors } = validate(value, copy as Schema, draft, undefined, true);
    if (valid) return { fit: 'fits' };
    // The last is the innermost, which says most.
    const last = errors.at(-1);
    const where = last?.instanceLocation.replace(/^#/, '') || '/';
    return {
      fit: 'differs',
      detail: toOneLine(`${where}: ${last?.error ?? ''}`, MAX_DETAIL_CHARS),
    };
  } catch (thrown) {
    const why = thrown instanceof Unusable ? thrown.message : 'the schema cannot be applied';
    return { fit: 'unusable', detail: toOneLine(why, MAX_DETAIL_CHARS) };
  }
}

function draftOf(schema: unknown): SchemaDraft {
  const said = isObject(schema) ? schema['$schema'] : undefined;
  if (said === undefined) return '2020-12';
  const known = DRAFTS.find(([form]) => typeof said === 'string' && form.test(said));
  if (!known) throw new Unusable('the schema is of a draft that is not known');
  return known[1];
}

class Copier {
  readonly #longest: number;
  #left = MAX_SCHEMAS;
  #steps: number;

  constructor(longest: number, maxSteps: number) {
    this.#longest = longest;
    this.#steps = maxSteps;
  }

  /** @throws Unusable */
  copy(schema: unknown, depth: number): JsonObject | boolean {
    if (typeof schema === 'boolean') return schema;
    this.#left -= 1;
    if (!isObject(schema)) throw new Unusable('a schema is neither an object nor a boolean');
    if (depth === 0 || this.#left < 0) throw new Unusable('the schema is too large');
    const copy: JsonObject = {};
    for (const [key, value] of Object.entries(schema)) {
      if (UNCHECKED.test(key)) throw new Unusable(`${key} is not supported`);
      const form = FORMS.get(key);
      if (form) copy[key] = this.#value(key, form, value, depth - 1);
    }
    this.#checkPatterns(copy);
    const count = (): undefined => {
      this.#steps -= 1;
      if (this.#steps < 0) throw new Unusable('the schema makes too much work');
      return undefined;
    };
    return Object.defineProperty(copy, '$recursiveAnchor', { get: count, enumerable: false });
  }

  #value(key: string, form: Form, value: unknown, depth: number): unknown {
    const wrong = () => new Unusable(`the value of ${key} is not what it has to be`);
    const each = (inner: unknown) => this.copy(inner, depth);
    const isText = (text: unknown) => typeof text === 'string';
    const isTexts = (list: unknown) => Array.isArray(list) && list.every(isText);
    switch (form) {
      case 'schema':
        return each(value);
      case 'schemas':
        if (!Array.isArray(value) || value.length === 0) throw wrong();
        return value.map(each);
      case 'items':
        return Array.isArray(value) ? value.map(each) : each(value);
      case 'map':
      case 'dependencies':
        if (!isObject(value)) throw wrong();
        return mapMembers(value, inner =>
          form === 'dependencies' && isTexts(inner) ? inner : each(inner),
        );
      case 'textMap':
        if (!isObject(value) || !Object.values(value).every(isTexts)) throw wrong();
        return value;
      case 'types': {
        const types: unknown[] = Array.isArray(value) ? value : [value];
        if (types.length === 0 || !types.every(type => TYPES.has(type as string))) throw wrong();
        return value;
      }
      case 'number':
        if (typeof value !== 'number') throw wrong();
        return value;
      case 'flag':
        if (typeof value !== 'boolean') throw wrong();
        return value;
      case 'text':
        if (!isText(value)) throw wrong();
        return value;
      case 'texts':
        if (!isTexts(value)) throw wrong();
        return value;
      case 'list':
        if (!Array.isArray(value)) throw wrong();
        return value;
      case 'any':
        return value;
    }
  }

  #checkPatterns({ pattern, patternProperties, uniqueItems, maxItems }: JsonObject): void {
    const patterns = isObject(patternProperties) ? Object.keys(patternProperties) : [];
    if (typeof pattern === 'string') patterns.push(pattern);
    for (const each of patterns) {
      if (!isTamePattern(each, this.#longest)) {
        throw new Unusable(`the pattern ${each} may take too long`);
      }
    }
    const isMany = typeof maxItems !== 'number' || maxItems > MAX_UNIQUE;
    if (uniqueItems === true && isMany && this.#longest > MAX_UNIQUE) {
      throw new Unusable('uniqueItems of so many may take too long');
    }
  }
}

/** Members by their names, also where one has a name that objects give a meaning to. */
function mapMembers(members: JsonObject, change: (value: unknown) => unknown): JsonObject {
  const made: JsonObject = {};
  for (const [key, value] of Object.entries(members)) {
    Object.defineProperty(made, key, {
      value: change(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return made;
}

/** The length of the longest text or list in a value. */
function longestText(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  const keys = Array.isArray(value) ? [] : Object.keys(value).map(({ length }) => length);
  const inner = Object.values(value).map(longestText);
  return [...keys, ...inner].reduce((most, each) => Math.max(most, each), own);
}
