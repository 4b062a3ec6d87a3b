/** The differences between a tool's definition and its export, and which of them no loss reports. */
import type { ConversionWarning } from '../../../src/models/formats/dialect.ts';
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';

const step = (path: string, key: string | number) =>
  `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Pointers, by the tool's own names, to every difference. */
export function findDifferences(
  one: unknown,
  other: unknown,
  names: ReadonlyMap<string, string>,
  path = '/inputSchema',
): string[] {
  if (isSame(one, other)) return [];
  if (Array.isArray(one) && Array.isArray(other)) {
    if (path.endsWith('/required')) {
      const named = one.map(name => names.get(String(name)) ?? String(name));
      return isSame(named, other) ? [] : [path];
    }
    if (one.length !== other.length) return [path];
    return one.flatMap((each, index) =>
      findDifferences(each, other[index], names, step(path, index)),
    );
  }
  if (!isObject(one) || !isObject(other)) return [path];
  const isMap = path.endsWith('/properties');
  const nameOf = (key: string) => (isMap ? (names.get(key) ?? key) : key);
  const found = Object.keys(one).flatMap(key => {
    const named = nameOf(key);
    const renamed = named === key ? [] : [step(path, key)];
    if (!Object.hasOwn(other, named)) return [step(path, key)];
    return [...renamed, ...findDifferences(one[key], other[named], names, step(path, key))];
  });
  const known = new Set(Object.keys(one).map(nameOf));
  const added = Object.keys(other).filter(key => !known.has(key));
  return [...found, ...added.map(key => step(path, key))];
}

/** Losses that replace the schema in which they occur by another one. */
const REPLACING = /\/(\$ref|allOf|anyOf|oneOf|prefixItems|const|enum)$/;

/** The differences that no loss reports. */
export function findUntold(
  differences: readonly string[],
  losses: readonly Pick<ConversionWarning, 'path' | 'detail'>[],
): string[] {
  const paths = new Set(losses.map(({ path }) => path));
  const replaced = losses.flatMap(({ path, detail }) => {
    if (REPLACING.test(path)) return [path.replace(REPLACING, '')];
    return /^(anything|cut|null where)/.test(detail) ? [path] : [];
  });
  return differences.filter(
    path => !paths.has(path) && !replaced.some(at => path === at || path.startsWith(`${at}/`)),
  );
}

/** The dialect's definitions, without their wrappers. */
export function definitionsOf(format: string, tools: readonly JsonObject[]): JsonObject[] {
  if (format === 'openai-chat') return tools.map(tool => tool['function'] as JsonObject);
  if (format !== 'gemini') return [...tools];
  return tools.flatMap(tool => tool['functionDeclarations'] as JsonObject[]);
}

/** The schema of a definition. */
export const schemaOf = (definition: JsonObject): JsonObject =>
  (definition['parameters'] ??
    definition['input_schema'] ??
    definition['parametersJsonSchema']) as JsonObject;
