/**
 * Converts arguments that a model gave for a converted schema into those of the tool: restores the names of properties, and drops a null
 * that stands for an omitted property. It walks the tool's own schema beside the arguments, so that names and nulls in free-form data stay
 * unchanged. Pure; bounded in depth.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { resolveRef } from './schema-refs.ts';
import { MAX_DEPTH, own, put, typesOf } from './schema-rules.ts';

export interface WayBack {
  /** The tool's own schema. */
  schema: JsonObject;
  /** Maps the dialect's property names to the tool's own. */
  names: ReadonlyMap<string, string>;
  /** Whether optional properties accept null in the converted schema. */
  dropsNulls: boolean;
}

/** Most schemas considered for one value. */
const MAX_SCHEMAS = 200;

export function toOwnArguments(given: JsonObject, way: WayBack): JsonObject {
  return new Back(way).object(given, [way.schema], 0);
}

class Back {
  readonly #way: WayBack;

  constructor(way: WayBack) {
    this.#way = way;
  }

  #value(value: unknown, schemas: readonly unknown[], depth: number): unknown {
    if (depth > MAX_DEPTH || schemas.length === 0) return value;
    if (isObject(value)) return this.object(value, schemas, depth);
    if (!Array.isArray(value)) return value;
    const all = this.#spread(schemas);
    return value.map((each, index) => this.#value(each, itemsOf(all, index), depth + 1));
  }

  object(value: JsonObject, schemas: readonly unknown[], depth: number): JsonObject {
    const named: JsonObject = {};
    const all = this.#spread(schemas);
    const known = all.flatMap(schema => {
      const properties = own(schema, 'properties');
      return isObject(properties) ? [properties] : [];
    });
    for (const [key, each] of Object.entries(value)) {
      const name = this.#way.names.get(key) ?? key;
      const isKnown = known.some(properties => Object.hasOwn(properties, name));
      put(named, isKnown ? name : key, each);
    }
    const fitting = all.filter(schema => this.#fits(schema, named));
    const found: JsonObject = {};
    for (const [name, each] of Object.entries(named)) {
      const below = definitionsOf(fitting, name);
      const isNull = each === null && this.#way.dropsNulls;
      // A property of another alternative, where all alternatives were merged into one.
      const isForeign = below.length === 0 && definitionsOf(all, name).length > 0;
      const isLeftOut = isNull && (isForeign || this.#standsForNone(fitting, name));
      if (!isLeftOut) put(found, name, this.#value(each, below, depth + 1));
    }
    return found;
  }

  /** Tells whether null stands for an omitted property: no schema accepts null, and none requires the property. */
  #standsForNone(schemas: readonly JsonObject[], name: string): boolean {
    const definitions = definitionsOf(schemas, name);
    if (definitions.length === 0 || definitions.some(each => this.#takesNull(each, 0)))
      return false;
    const requiring = schemas.filter(schema => {
      const required = own(schema, 'required');
      return Array.isArray(required) && required.includes(name);
    });
    return requiring.length === 0;
  }

  /** Collects all schemas that may apply to a value: through references, `allOf`, and every alternative. */
  #spread(schemas: readonly unknown[]): JsonObject[] {
    const all = new Set<JsonObject>();
    const waiting = [...schemas];
    while (waiting.length > 0 && all.size < MAX_SCHEMAS) {
      const schema = waiting.shift();
      if (!isObject(schema) || all.has(schema)) continue;
      all.add(schema);
      waiting.push(resolveRef(this.#way.schema, own(schema, '$ref')));
      for (const key of ['allOf', 'anyOf', 'oneOf']) {
        const parts = own(schema, key);
        if (Array.isArray(parts)) waiting.push(...(parts as unknown[]));
      }
      waiting.push(own(schema, 'then'), own(schema, 'else'));
    }
    return [...all];
  }

  /** Tells whether the value may match this alternative: no property with fixed values contradicts it. */
  #fits(schema: JsonObject, value: JsonObject): boolean {
    const properties = own(schema, 'properties');
    return Object.entries(isObject(properties) ? properties : {}).every(([name, each]) => {
      const fixed = isObject(each) ? fixedValues(each) : undefined;
      const given = own(value, name);
      return !fixed || given === undefined || given === null || fixed.includes(given);
    });
  }

  #takesNull(schema: unknown, depth: number): boolean {
    if (!isObject(schema) || depth > MAX_DEPTH) return schema !== false;
    const target = own(schema, '$ref');
    if (target !== undefined) {
      const found = resolveRef(this.#way.schema, target);
      if (!this.#takesNull(found ?? true, depth + 1)) return false;
    }
    const fixed = fixedValues(schema);
    if (fixed && !fixed.includes(null)) return false;
    const types = typesOf(schema);
    if (types.length > 0 && !types.includes('null')) return false;
    const list = (key: string) => {
      const parts = own(schema, key);
      return Array.isArray(parts) ? (parts as unknown[]) : undefined;
    };
    const takes = (part: unknown) => this.#takesNull(part, depth + 1);
    const choices = ['anyOf', 'oneOf'].map(key => list(key)?.some(takes) ?? true);
    return choices.every(Boolean) && (list('allOf')?.every(takes) ?? true);
  }
}

function fixedValues(schema: JsonObject): unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']];
  const values = own(schema, 'enum');
  return Array.isArray(values) ? values : undefined;
}

/** Returns the schemas of a property: by its name, else from `additionalProperties`. */
function definitionsOf(schemas: readonly JsonObject[], name: string): unknown[] {
  return schemas.flatMap(schema => {
    const properties = own(schema, 'properties');
    if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name]];
    const more = own(schema, 'additionalProperties');
    return isObject(more) ? [more] : [];
  });
}

function itemsOf(schemas: readonly JsonObject[], index: number): unknown[] {
  return schemas.flatMap(schema => {
    const items = own(schema, 'items');
    const tuple = own(schema, 'prefixItems') ?? items;
    const at = Array.isArray(tuple) ? (tuple as unknown[])[index] : undefined;
    if (at !== undefined) return [at];
    return isObject(items) ? [items] : [];
  });
}
