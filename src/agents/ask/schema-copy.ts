/**
 * Copies an untrusted schema with only the keywords that are known and checked, each in the right form; the validator sees nothing else.
 * References that the validator does not follow are refused.
 *
 * The validator reads a schema's `$recursiveAnchor` once for each value that it checks by it. A getter there counts these steps, so that
 * references that multiply or never end are stopped.
 */
import { mapMembers } from '../../shared/json/map-members.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { FORMATS, type SchemaPatterns } from './schema-patterns.ts';
import { SchemaUnusable } from './schema-unusable.ts';

/** Most schemas within one schema, and the deepest nesting of them. */
const MAX_SCHEMAS = 5_000;
export const MAX_DEPTH = 64;

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

/** The checked keywords, by the form of their value. Other keywords only describe, and are left out. */
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
/** References that the validator does not follow, and the validator's own keywords. */
const UNCHECKED = /^(?:\$dynamicRef|\$dynamicAnchor|\$recursiveRef|\$recursiveAnchor|__)/;
const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

export interface CopyOptions {
  /** Whether `id` names a schema, as in draft 4. */
  hasOldIds: boolean;
  /** Most applications of a schema to a value. */
  maxSteps: number;
  patterns: SchemaPatterns;
}

export class SchemaCopier {
  readonly #options: CopyOptions;
  #left = MAX_SCHEMAS;
  #steps: number;
  /** Copies that have `patternProperties`. */
  readonly byPattern: JsonObject[] = [];

  constructor(options: CopyOptions) {
    this.#options = options;
    this.#steps = options.maxSteps;
  }

  /** @param schema untrusted @throws SchemaUnusable */
  copy(schema: unknown, depth = MAX_DEPTH): JsonObject | boolean {
    if (typeof schema === 'boolean') return schema;
    this.#left -= 1;
    if (!isObject(schema)) throw new SchemaUnusable('a schema is neither an object nor a boolean');
    if (depth === 0 || this.#left < 0) throw new SchemaUnusable('the schema is too large');
    const copy: JsonObject = {};
    for (const [key, value] of Object.entries(this.#meant(schema))) {
      if (UNCHECKED.test(key)) throw new SchemaUnusable(`${key} is not supported`);
      const form = FORMS.get(key);
      if (form) copy[key] = this.#value(key, form, value, depth - 1);
    }
    this.#checkText(copy);
    if (copy['patternProperties'] !== undefined) this.byPattern.push(copy);
    const count = (): undefined => {
      this.#steps -= 1;
      if (this.#steps < 0) throw new SchemaUnusable('the schema takes too much work to check');
      return undefined;
    };
    return Object.defineProperty(copy, '$recursiveAnchor', { get: count, enumerable: false });
  }

  /** Translates the two keywords of draft 4 that later drafts express differently. */
  #meant(schema: JsonObject): JsonObject {
    const meant = { ...schema };
    if (this.#options.hasOldIds && meant['id'] !== undefined) meant['$id'] = meant['id'];
    for (const bound of ['minimum', 'maximum']) {
      const name = `exclusive${bound === 'minimum' ? 'Minimum' : 'Maximum'}`;
      const isExclusive = meant[name];
      if (typeof isExclusive !== 'boolean') continue;
      delete meant[name];
      if (!isExclusive) continue;
      // Without its bound the keyword has no meaning: keep the wrong value, which is then refused.
      meant[name] = meant[bound] ?? isExclusive;
      delete meant[bound];
    }
    return meant;
  }

  /** A pattern is more exact than a format, and the two often disagree: where both are given, the pattern decides. */
  #checkText(copy: JsonObject): void {
    const { pattern, format, uniqueItems } = copy;
    const { patterns } = this.#options;
    if (typeof pattern === 'string') {
      copy['format'] = patterns.toFormat(pattern);
      delete copy['pattern'];
    } else if (typeof format === 'string' && !FORMATS.has(format)) {
      delete copy['format'];
    }
    if (uniqueItems === true) {
      Object.defineProperty(copy, 'uniqueItems', { get: () => patterns.needsUniqueItems() });
    }
  }

  #value(key: string, form: Form, value: unknown, depth: number): unknown {
    const wrong = () => new SchemaUnusable(`the value of ${key} is not valid`);
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
}
