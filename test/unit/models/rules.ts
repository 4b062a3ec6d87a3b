/** Shared by the rule checks of all dialects: a walk over every schema in a schema. */
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';

const SINGLE = [
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

export interface Found {
  schema: JsonObject;
  path: string;
  depth: number;
}

export function* eachSchema(schema: unknown, path = '', depth = 0): Generator<Found> {
  if (!isObject(schema)) return;
  yield { schema, path, depth };
  for (const key of SINGLE) yield* eachSchema(schema[key], `${path}/${key}`, depth + 1);
  for (const key of LISTS) {
    const list = schema[key];
    if (!Array.isArray(list)) continue;
    for (const [index, each] of list.entries()) {
      yield* eachSchema(each, `${path}/${key}/${index}`, depth + 1);
    }
  }
  for (const key of MAPS) {
    const map = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (!isObject(map)) continue;
    for (const [name, each] of Object.entries(map)) {
      yield* eachSchema(each, `${path}/${key}/${name}`, depth + 1);
    }
  }
}

export const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0);

/** Breaches of the rule that references point to `$defs` of the root only, with nothing beside them; circular ones are allowed or not. */
export function checkReferences(root: JsonObject, { circles }: { circles: boolean }): string[] {
  const defs = isObject(root['$defs']) ? root['$defs'] : {};
  const found: string[] = [];
  const leadsTo = new Map<string, string[]>();
  for (const { schema, path } of eachSchema(root)) {
    const ref = schema['$ref'];
    if (ref === undefined) continue;
    const name = /^#\/\$defs\/(.+)$/.exec(String(ref))?.[1] ?? '';
    if (!Object.hasOwn(defs, name)) found.push(`${path} leads nowhere: ${String(ref)}`);
    if (Object.keys(schema).length > 1) found.push(`${path} beside $ref`);
    const from = /^\/\$defs\/([^/]+)/.exec(path)?.[1] ?? '';
    leadsTo.set(from, [...(leadsTo.get(from) ?? []), name]);
  }
  const isCircular = (name: string, seen: readonly string[]): boolean =>
    seen.includes(name) ||
    (leadsTo.get(name) ?? []).some(next => isCircular(next, [...seen, name]));
  if (!circles && isCircular('', [])) found.push('references in a circle');
  return found;
}
