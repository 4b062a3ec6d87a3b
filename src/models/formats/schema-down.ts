/**
 * Converts JSON Schema 2020-12 to what a dialect accepts. Whatever fits the rules stays unchanged; every change and removal is reported as
 * a conversion warning. What cannot be expressed becomes wider, so that every argument of the tool can still be given. Only a strict schema
 * is narrower; if that would make the tool unusable, it is refused as `Unsayable`. Pure; bounded in depth and size.
 *
 * Source: JSON Schema 2020-12, core and validation (json-schema.org/draft/2020-12).
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { NOTES, toChoice, toPlainValues, withType } from './schema-values.ts';
import { toClosed } from './schema-closed.ts';
import { Definitions, withDefinitions, type Definition } from './schema-defs.ts';
import { mergeAll } from './schema-merge.ts';
import { resolveRef, survey, toPropertyNames, type PropertyNames } from './schema-refs.ts';
import { toRootObject } from './schema-root.ts';
import { toValid } from './schema-valid.ts';
import {
  LISTS,
  MAPS,
  MAX_DEPTH,
  MAX_NODES,
  MAX_SHARED_CHARS,
  MAX_UNROLLED,
  MAX_WRITTEN_CHARS,
  own,
  put,
  SINGLE,
  step,
  typesOf,
  Unsayable,
  type Trail,
  type Warn,
  type SchemaRules,
} from './schema-rules.ts';

/**
 * Converts a schema.
 * @param path of the schema in the tool's definition
 * @throws Unsayable where the rules are strict
 */
export function bringDown(
  schema: JsonObject,
  rules: SchemaRules,
  warn: Warn,
  path = '/inputSchema',
): JsonObject {
  const walk = new Walk(schema, rules, warn, path);
  const found = walk.start();
  const excess = rules.findExcess?.(found);
  if (excess !== undefined) throw new Unsayable(path, excess);
  return found;
}

class Walk {
  readonly #root: JsonObject;
  readonly #rules: SchemaRules;
  readonly #warn: Warn;
  readonly #path: string;
  readonly #names: PropertyNames;
  readonly #keepsRefs: boolean;
  /** Set where references stay, but in another form. */
  readonly #definitions: Definitions | undefined;
  #nodes = 0;
  #writtenChars = 0;
  #sharedChars = 0;

  constructor(root: JsonObject, rules: SchemaRules, warn: Warn, path: string) {
    this.#root = root;
    this.#rules = rules;
    this.#warn = warn;
    this.#path = path;
    this.#names = toPropertyNames(root, rules);
    const { hasRefs, hasSimpleRefs } = survey(root);
    this.#keepsRefs = !rules.keywords && hasSimpleRefs;
    const refers = hasRefs && !this.#keepsRefs && (!rules.keywords || rules.references);
    if (refers) this.#definitions = new Definitions(root, rules.references !== 'acyclic');
  }

  start(): JsonObject {
    const trail = { depth: 0, refs: [] };
    const flatten = (schema: JsonObject, path: string) =>
      this.#flatten(schema, path, trail, true)?.node ?? {};
    const root = toRootObject(this.#root, this.#path, this.#rules, flatten, this.#warn);
    const found = this.#object(root, this.#path, trail);
    if (!this.#definitions) return found;
    const down = ({ ref, target }: Definition) =>
      this.#down(target, this.#path + ref.slice(1), { depth: 1, refs: [] });
    return withDefinitions(found, this.#root, this.#path, this.#definitions, down, this.#warn);
  }

  /** Returns a reference that stays; undefined where its target is written out in place. */
  #reference(schema: JsonObject, path: string, trail: Trail): JsonObject | undefined {
    const { $ref: ref, ...rest } = schema;
    if (!this.#definitions || typeof ref !== 'string') return undefined;
    const { keywords } = this.#rules;
    if (keywords && !Object.keys(rest).every(key => NOTES.has(key))) return undefined;
    const $ref = this.#definitions.refer(ref);
    if ($ref === undefined) return undefined;
    if ($ref !== ref)
      this.#warn(step(path, '$ref'), 'changed', 'leads to a definition at the root');
    if (!keywords) return { ...this.#members(rest, path, trail), $ref };
    const said = this.#members(rest, path, trail);
    if (Object.keys(said).length === 0) return { $ref };
    this.#warn(step(path, '$ref'), 'changed', 'stands in a choice, beside what is said of it');
    return { ...said, anyOf: [{ $ref }] };
  }

  #down(schema: unknown, path: string, trail: Trail): JsonObject | boolean {
    this.#nodes += 1;
    const isPast = trail.depth > MAX_DEPTH || this.#nodes > MAX_NODES;
    if (isPast) return this.#cut(isObject(schema) ? schema : {}, path, 'too deep or too much');
    if (typeof schema === 'boolean' && !this.#rules.keywords) return schema;
    if (!isObject(schema)) {
      const detail = schema === true ? 'anything' : 'anything: it is no schema of a value';
      this.#warn(path, 'changed', detail);
      return this.#anything(path);
    }
    const valid = toValid(schema, path, this.#warn);
    const reference = this.#reference(valid, path, trail);
    if (reference) return reference;
    const flat = this.#flatten(valid, path, trail, false);
    return flat ? this.#object(flat.node, path, { ...trail, refs: flat.refs }) : {};
  }

  #anything(path: string): JsonObject {
    if (this.#rules.isStrict) throw new Unsayable(path, 'a value of any type');
    return {};
  }

  /** Ends a branch: anything of the same type is accepted there. */
  #cut(schema: JsonObject, path: string, why: string): JsonObject {
    if (this.#rules.isStrict) throw new Unsayable(path, why);
    this.#warn(path, 'changed', `cut: ${why}`);
    const type = own(schema, 'type');
    return type === undefined || type === 'array' ? {} : { type };
  }

  /** Resolves references and `allOf`. @returns undefined where a reference is circular, after a conversion warning */
  #flatten(
    schema: JsonObject,
    path: string,
    trail: Trail,
    isRoot: boolean,
  ): { node: JsonObject; refs: readonly string[] } | undefined {
    const keyword = (key: string) =>
      this.#warn(step(path, key), 'changed', 'only the first of several counts');
    let { refs } = trail;
    let node = toValid(schema, path, this.#warn);
    for (;;) {
      const { $ref: ref, allOf: all, ...rest } = node;
      if (ref !== undefined && (isRoot || !this.#keepsRefs)) {
        const found = this.#follow(ref, path, refs);
        if (found === 'circle') return undefined;
        refs = [...refs, String(ref)];
        node = mergeAll(
          [{ ...rest, ...(all === undefined ? {} : { allOf: all }) }, found],
          keyword,
        );
      } else if (Array.isArray(all) && (isRoot || this.#rules.keywords)) {
        this.#warn(step(path, 'allOf'), 'changed', 'made one schema');
        const parts = (all as unknown[]).filter(isObject);
        const flats: JsonObject[] = [{ ...rest, ...(ref === undefined ? {} : { $ref: ref }) }];
        for (const [index, part] of parts.entries()) {
          const at = step(step(path, 'allOf'), index);
          const flat = this.#flatten(part, at, { ...trail, refs }, isRoot);
          refs = flat?.refs ?? refs;
          if (flat) flats.push(flat.node);
        }
        node = mergeAll(flats, keyword);
      } else return { node, refs };
    }
  }

  #follow(ref: unknown, path: string, refs: readonly string[]): JsonObject | 'circle' {
    const at = step(path, '$ref');
    const target = resolveRef(this.#root, ref);
    if (target === undefined || typeof target === 'boolean') {
      this.#warn(at, 'removed', 'it leads to no schema of a value');
      return {};
    }
    const times = refs.filter(each => each === ref).length;
    if (times >= MAX_UNROLLED || refs.length > MAX_DEPTH) {
      this.#cut({}, at, 'it leads to itself');
      return 'circle';
    }
    if (times > 0 && this.#rules.isStrict) throw new Unsayable(at, 'a schema within itself');
    const { $defs: _, definitions: __, $schema: ___, $id: ____, ...found } = target;
    this.#writtenChars += JSON.stringify(found).length;
    if (this.#writtenChars > MAX_WRITTEN_CHARS)
      return this.#cut(found, at, 'too much to write out');
    this.#warn(at, 'changed', 'written out in place');
    return toValid(found, path, this.#warn);
  }

  /** Converts a schema without references and `allOf`, where the rules restrict keywords. */
  #object(schema: JsonObject, path: string, trail: Trail): JsonObject {
    const { keywords } = this.#rules;
    if (!keywords) return this.#members(schema, path, trail);
    const plain = toPlainValues(schema, path, this.#rules, this.#warn);
    const choice = toChoice(plain, path, keywords, this.#warn);
    const sharedChars = this.#sharedChars + (choice?.sharedChars ?? 0);
    if (sharedChars > MAX_SHARED_CHARS) return this.#cut(plain, path, 'too much to repeat');
    this.#sharedChars = sharedChars;
    if (choice) return this.#choice(choice.alternatives, choice.rest, choice.path, trail);
    const typed = withType(plain, path, this.#warn);
    if (typesOf(typed).length === 0) {
      return { ...this.#members(typed, path, trail), ...this.#anything(path) };
    }
    const found = this.#members(typed, path, trail);
    if (!this.#rules.isStrict) return found;
    const isRoot = path === this.#path;
    return toClosed(found, typed, path, { ...this.#rules, isRoot, names: this.#names }, this.#warn);
  }

  #choice(alternatives: unknown[], rest: JsonObject, path: string, trail: Trail): JsonObject {
    const found = new Map<string, JsonObject>();
    for (const [index, each] of alternatives.entries()) {
      if (each === false) continue;
      const one = this.#down(each, step(path, index), { ...trail, depth: trail.depth + 1 });
      if (isObject(one)) found.set(JSON.stringify(one), one);
    }
    const anyOf = [...found.values()];
    if (anyOf.length === 0) return this.#anything(path);
    if (anyOf.length < alternatives.length) {
      this.#warn(path, 'changed', 'alternatives that say the same are one');
    }
    const said = this.#members(rest, path.slice(0, path.lastIndexOf('/')), trail);
    const [only] = anyOf;
    return anyOf.length === 1 && only ? { ...only, ...said } : { ...said, anyOf };
  }

  #members(schema: JsonObject, path: string, trail: Trail): JsonObject {
    const found: JsonObject = {};
    const { keywords, needsItems } = this.#rules;
    for (const [key, value] of Object.entries(schema)) {
      const at = step(path, key);
      const isDefinitions = key === '$defs' || key === 'definitions';
      if (this.#definitions && isDefinitions) {
        if (key === 'definitions' || path !== this.#path)
          this.#warn(at, 'removed', 'what is referred to stands at the root');
      } else if (keywords && !keywords.has(key))
        this.#warn(at, 'removed', 'the dialect has no such keyword');
      else this.#member(found, key, value, at, trail);
    }
    if (needsItems && typesOf(schema).includes('array') && own(found, 'items') === undefined) {
      found['items'] = {};
      this.#warn(step(path, 'items'), 'changed', 'said to be anything');
    }
    return found;
  }

  #member(into: JsonObject, key: string, value: unknown, path: string, trail: Trail): void {
    const next = { ...trail, depth: trail.depth + 1 };
    const { formats, maxMinItems } = this.#rules;
    if (key === 'enum' && Array.isArray(value) && value.length === 0) {
      this.#warn(path, 'removed', 'no value would fit');
    } else if (key === 'format' && formats && !formats.has(String(value))) {
      this.#warn(path, 'removed', 'the dialect has no such format');
    } else if (key === 'minItems' && Number(value) > (maxMinItems ?? Infinity)) {
      put(into, key, maxMinItems);
      this.#warn(path, 'changed', `the most that can be asked for is ${maxMinItems}`);
    } else if (key === 'required' && Array.isArray(value)) {
      put(
        into,
        key,
        value.map(name => this.#names.get(String(name)) ?? name),
      );
    } else if (key === 'properties' && isObject(value)) {
      put(into, key, this.#properties(value, path, next));
    } else if (key === 'additionalProperties' && typeof value === 'boolean') {
      put(into, key, value);
    } else if (SINGLE.has(key)) {
      put(into, key, this.#down(value, path, next));
    } else if (Array.isArray(value) && LISTS.has(key)) {
      put(
        into,
        key,
        value.map((each, index) => this.#down(each, step(path, index), next)),
      );
    } else if (MAPS.has(key) && isObject(value)) {
      const map: JsonObject = {};
      for (const [name, each] of Object.entries(value)) {
        put(map, name, this.#down(each, step(path, name), next));
      }
      put(into, key, map);
    } else put(into, key, value);
  }

  #properties(properties: JsonObject, path: string, trail: Trail): JsonObject {
    const found: JsonObject = {};
    for (const [name, schema] of Object.entries(properties)) {
      const at = step(path, name);
      const given = this.#names.get(name) ?? name;
      if (given !== name) this.#warn(at, 'changed', `named ${given}`);
      if (schema === false && this.#rules.keywords)
        this.#warn(at, 'removed', 'it may never be given');
      else put(found, given, this.#down(schema, at, trail));
    }
    return found;
  }
}
