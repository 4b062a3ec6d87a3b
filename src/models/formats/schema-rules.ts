/** The parts of JSON Schema 2020-12 that a dialect accepts, as data for `bringDown`; and helpers of the conversion. */
import type { JsonObject } from '../../shared/protocol.ts';
import type { ConversionWarning } from './dialect.ts';
import type { NameRule } from './names.ts';

export { setMember as put } from '../../shared/json/map-members.ts';

export interface SchemaRules {
  /** Allowed keywords; where absent, all are allowed, and references may stay. */
  keywords?: ReadonlySet<string>;
  /**
   * Where keywords are restricted: references that may stay, to definitions under the root's `$defs` and with nothing beside them. Either
   * all, or only those without a cycle. Absent: none.
   */
  references?: 'all' | 'acyclic';
  /** Allowed values of `format`; any where absent. */
  formats?: ReadonlySet<string>;
  /** Rule for property names; any name where absent. */
  properties?: NameRule;
  /** Whether the schema of the arguments has to list properties, even an empty list. */
  needsProperties?: boolean;
  /** Whether arrays have to declare their items. */
  needsItems?: boolean;
  /** Whether `enum` accepts only strings and numbers. */
  plainEnums?: boolean;
  /** Largest allowed value of `minItems`. */
  maxMinItems?: number;
  /** Whether the schema is enforced: objects accept only the properties they list, and every value needs a type. */
  isStrict?: boolean;
  /** Whether every property must be required; an optional one then accepts null. */
  allRequired?: boolean;
  /** Returns how a whole schema exceeds the dialect's limits; undefined where it does not. */
  findExcess?(schema: JsonObject): string | undefined;
}

/** The position of a walk in a schema. */
export interface Trail {
  depth: number;
  /** References followed to get here. */
  refs: readonly string[];
}

/** Adds a conversion warning for the definition being converted. */
export type Warn = (path: string, kind: ConversionWarning['kind'], detail: string) => void;

/** A schema cannot be expressed within the rules without refusing what the tool needs. */
export class Unsayable extends Error {
  readonly path: string;

  constructor(path: string, detail: string) {
    super(detail);
    this.path = path;
  }
}

/** Deepest nesting that is converted; below it anything is accepted. */
export const MAX_DEPTH = 48;
/** Most characters of definitions written out in place, per tool. */
export const MAX_WRITTEN_CHARS = 32_768;
/** How often a definition is written out within itself. */
export const MAX_UNROLLED = 2;
/** Most characters that the alternatives of choices repeat of the schemas around them, per tool. */
export const MAX_SHARED_CHARS = 1_000_000;
/** Most schemas in the definition of one tool. */
export const MAX_NODES = 5_000;

/** Keywords whose value is one schema (`SINGLE`), a list of schemas (`LISTS`), or schemas by name (`MAPS`). */
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

/** Appends one step to a JSON pointer (RFC 6901). */
export const step = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Returns an own member, never an inherited one. */
export const own = (schema: JsonObject, key: string): unknown =>
  Object.hasOwn(schema, key) ? schema[key] : undefined;

/** Returns the types that a schema names; empty where it names none. */
export const typesOf = (schema: JsonObject): string[] =>
  [own(schema, 'type')].flat().filter(type => typeof type === 'string');
