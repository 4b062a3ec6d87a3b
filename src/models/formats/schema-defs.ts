/**
 * Collects the definitions that references lead to, for dialects that accept them under the root's `$defs`: each is written once, wherever
 * it is in the tool's schema. Pure; linear except for the depth of a schema.
 */
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { childrenOf, resolveRef } from './schema-refs.ts';
import { MAX_DEPTH, own, put, step, type Warn } from './schema-rules.ts';

export interface Definition {
  ref: string;
  name: string;
  target: JsonObject;
}

const SIMPLE = /^#\/\$defs\/([A-Za-z0-9_.-]{1,64})$/;
const MAX_NAME_CHARS = 48;

export class Definitions {
  readonly #root: JsonObject;
  /** Definitions that may not be referred to. */
  readonly #circular: ReadonlySet<JsonObject>;
  readonly #names = new Map<string, string>();
  readonly #taken: Set<string>;
  readonly #waiting: Definition[] = [];

  /** @param allowsCircles whether the dialect accepts a definition that refers to itself */
  constructor(root: JsonObject, allowsCircles: boolean) {
    this.#root = root;
    this.#circular = allowsCircles ? new Set() : findCircular(root);
    const defs = own(root, '$defs');
    this.#taken = new Set(isObject(defs) ? Object.keys(defs) : []);
  }

  /** Returns the reference in the dialect; undefined where its target has to be written out in place. */
  refer(ref: string): string | undefined {
    const target = resolveRef(this.#root, ref);
    if (!isObject(target) || this.#circular.has(target)) return undefined;
    let name = this.#names.get(ref);
    if (name === undefined) {
      name = SIMPLE.exec(ref)?.[1] ?? this.#newName(ref);
      this.#names.set(ref, name);
      this.#waiting.push({ ref, name, target });
    }
    return `#/$defs/${name}`;
  }

  /** Returns the next definition that was referred to and is not yet written. */
  next(): Definition | undefined {
    return this.#waiting.shift();
  }

  #newName(ref: string): string {
    const last = ref.slice(ref.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9_]/g, '');
    const base = last === '' ? 'whole' : last.slice(0, MAX_NAME_CHARS);
    let name = base;
    for (let i = 2; this.#taken.has(name); i += 1) name = `${base}_${i}`;
    this.#taken.add(name);
    return name;
  }
}

/**
 * Adds the definitions that a schema refers to at its root, each written once.
 * @param down converts one definition, which may refer to more of them
 */
export function withDefinitions(
  found: JsonObject,
  root: JsonObject,
  path: string,
  definitions: Definitions,
  down: (definition: Definition) => unknown,
  warn: Warn,
): JsonObject {
  const at = step(path, '$defs');
  const given = own(root, '$defs');
  const defs: JsonObject = {};
  const warnings: [string, Parameters<Warn>[1], string][] = [];
  for (let next = definitions.next(); next; next = definitions.next()) {
    put(defs, next.name, down(next));
    const isNew = !isObject(given) || !Object.hasOwn(given, next.name);
    if (isNew) warnings.push([step(at, next.name), 'changed', `what ${next.ref} leads to`]);
  }
  if (Object.keys(defs).length === 0) {
    if (given !== undefined) warn(at, 'removed', 'nothing refers to it');
    return found;
  }
  if (isObject(given)) {
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(defs, name))
        warnings.push([step(at, name), 'removed', 'nothing refers to it']);
    }
  } else warn(at, 'changed', 'has what is referred to');
  for (const warning of warnings) warn(...warning);
  return { ...found, $defs: defs };
}

/** Finds the definitions that lead to themselves, or to one that does. */
function findCircular(root: JsonObject): ReadonlySet<JsonObject> {
  const leadsTo = new Map<JsonObject, Set<JsonObject>>();
  const waiting = [...targetsIn(root, root)];
  for (let target = waiting.pop(); target; target = waiting.pop()) {
    if (leadsTo.has(target)) continue;
    const found = targetsIn(target, root);
    leadsTo.set(target, found);
    waiting.push(...found);
  }
  const ledFrom = new Map<JsonObject, JsonObject[]>();
  for (const [from, all] of leadsTo) {
    for (const to of all) {
      const known = ledFrom.get(to);
      if (known) known.push(from);
      else ledFrom.set(to, [from]);
    }
  }
  // A definition that refers to nothing, or only to such definitions, is in no cycle.
  const ends = [...leadsTo].filter(([, all]) => all.size === 0).map(([target]) => target);
  for (let end = ends.pop(); end; end = ends.pop()) {
    leadsTo.delete(end);
    for (const from of ledFrom.get(end) ?? []) {
      const rest = leadsTo.get(from);
      if (rest?.delete(end) && rest.size === 0) ends.push(from);
    }
  }
  return new Set(leadsTo.keys());
}

/** Returns the targets of the references in a schema. */
function targetsIn(schema: JsonObject, root: JsonObject): Set<JsonObject> {
  const found = new Set<JsonObject>();
  const visit = (node: unknown, depth: number): void => {
    if (!isObject(node) || depth > MAX_DEPTH) return;
    const target = resolveRef(root, own(node, '$ref'));
    if (isObject(target)) found.add(target);
    for (const [key, value] of Object.entries(node)) {
      if (key === '$defs' || key === 'definitions') continue;
      for (const child of childrenOf({ [key]: value })) visit(child, depth + 1);
    }
  };
  visit(schema, 0);
  return found;
}
