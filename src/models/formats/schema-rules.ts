/** What a dialect takes of JSON Schema 2020-12, as data for `bringDown`; and the words it uses for what it did. */
import type { JsonObject } from '../../shared/protocol.ts';
import type { ConversionWarning } from './dialect.ts';
import type { NameRule } from './names.ts';

export interface SchemaRules {
  /** The keywords that may stand in a schema; any where absent, and then references may stay as well. */
  keywords?: ReadonlySet<string>;
  /**
   * References that may stay where there are keywords, to definitions under `$defs` of the root and with nothing beside them: all, or
   * those that lead in no circle. Absent: none.
   */
  references?: 'all' | 'acyclic';
  /** Values that `format` may have; any where absent. */
  formats?: ReadonlySet<string>;
  /** Names that properties may have; any where absent. */
  properties?: NameRule;
  /** The schema of the arguments has to list properties, though it be none. */
  needsProperties?: boolean;
  /** Arrays have to say what their items are. */
  needsItems?: boolean;
  /** Values of `enum` are strings and numbers. */
  plainEnums?: boolean;
  /** Largest value of `minItems`. */
  maxMinItems?: number;
  /** The model is held to the schema: objects take what they list and nothing else, and nothing is of any type. */
  isStrict?: boolean;
  /** Each property is required: one that is optional takes null instead. */
  allRequired?: boolean;
  /** What of a whole schema is past what can be said; undefined where it is within. */
  findExcess?(schema: JsonObject): string | undefined;
}

/** Tells of a loss in the definition that is brought down. */
export type Lose = (path: string, kind: ConversionWarning['kind'], detail: string) => void;

/** A schema cannot be said within the rules without refusing what the tool needs. */
export class Unsayable extends Error {
  readonly path: string;

  constructor(path: string, detail: string) {
    super(detail);
    this.path = path;
  }
}

/** Deepest nesting that is looked at; what is below may be anything. */
export const MAX_DEPTH = 48;
/** Most characters of definitions that are written out in place in one tool. */
export const MAX_WRITTEN_CHARS = 32_768;
/** Most schemas that the definition of one tool is made of. */
export const MAX_NODES = 5_000;

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
export const SINGLE: ReadonlySet<string> = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
export const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
export const MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** One step of a JSON pointer (RFC 6901). */
export const step = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Sets a member, also one that is called `__proto__`. */
export function put(into: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(into, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** A member of its own, never an inherited one. */
export const own = (schema: JsonObject, key: string): unknown =>
  Object.hasOwn(schema, key) ? schema[key] : undefined;

/** The types that a schema names; empty where it names none. */
export const typesOf = (schema: JsonObject): string[] =>
  [own(schema, 'type')].flat().filter(type => typeof type === 'string');
