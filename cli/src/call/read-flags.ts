/**
 * Parses the flags of a command line into a tool's arguments, as its schema wants them. Numbers keep their digits. Pure; error messages say
 * what would be right.
 */
import { rawMembers, tryJson } from '../../../src/shared/json/json-spans.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Parameter, ParameterType } from './parameters.ts';

/** Arguments as a tree whose leaves are JSON text. */
export type Tree = Map<string, Tree | string>;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const usage = (message: string) => new Failure(message, EXIT.usage);

/**
 * Reads the words after the name of a tool.
 * @param given JSON text of an object that the flags are added to
 * @param takesOthers flags without a parameter become arguments too
 * @throws Failure for the first invalid word
 */
export function readFlags(
  words: readonly string[],
  parameters: readonly Parameter[],
  takesOthers: boolean,
  given = '{}',
): Tree {
  const values = new Map<Parameter, string[]>();
  const others = new Map<string, string>();
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!word.startsWith('--') || word === '--') {
      throw usage(`'${word}' is not a flag; write a value after its --name, or use --args JSON`);
    }
    const equals = word.indexOf('=');
    const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
    const attached = equals < 0 ? undefined : word.slice(equals + 1);
    const parameter = findParameter(parameters, name);
    const negated = parameter ? undefined : findNegated(parameters, name);
    const known = parameter ?? negated;
    if (!known && !takesOthers) throw usage(unknownFlag(name, parameters));
    let value = negated ? 'false' : attached;
    if (value === undefined && known?.type === 'boolean') {
      const isGiven = left[0] === 'true' || left[0] === 'false';
      value = isGiven || (known.isNullable && left[0] === 'null') ? left.shift() : 'true';
    }
    if (value === undefined && (left[0] === undefined || left[0].startsWith('--'))) {
      throw usage(`--${name} needs a value; write one that starts with -- as --${name}=…`);
    }
    value ??= left.shift() ?? '';
    if (!known) others.set(name, value);
    else values.set(known, [...(values.get(known) ?? []), value]);
  }
  const tree: Tree = new Map(rawMembers(given));
  for (const [name, value] of others) tree.set(name, toJsonOrText(value));
  for (const [parameter, texts] of values) plant(tree, parameter.path, toText(parameter, texts));
  return tree;
}

/** Returns the required parameters that a tree of arguments lacks. */
export function missingFrom(tree: Tree, parameters: readonly Parameter[]): Parameter[] {
  return parameters.filter(({ path, isRequired }) => {
    let node: Tree | string | undefined = tree;
    for (const key of path) {
      // JSON text may already contain the whole branch.
      if (typeof node === 'string') return false;
      node = node?.get(key);
    }
    return isRequired && node === undefined;
  });
}

/** Returns a tree as JSON text. */
export function toJsonText(tree: Tree): string {
  const members = [...tree].map(([key, value]) => {
    return `${JSON.stringify(key)}:${typeof value === 'string' ? value : toJsonText(value)}`;
  });
  return `{${members.join(',')}}`;
}

/** Finds the parameter of a flag; hyphens are allowed: `--dry-run` means `dryRun` or `dry_run`. */
export function findParameter(
  parameters: readonly Parameter[],
  flag: string,
): Parameter | undefined {
  const exact = parameters.find(({ name }) => name === flag);
  if (exact) return exact;
  const [found, other] = parameters.filter(({ name }) => toKebab(name) === flag);
  return other ? undefined : found;
}

/** Whether a flag sets a parameter, also to false as `--no-NAME`. */
export const hasFlag = (parameters: readonly Parameter[], flag: string): boolean =>
  (findParameter(parameters, flag) ?? findNegated(parameters, flag)) !== undefined;

const toKebab = (name: string) =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

function findNegated(parameters: readonly Parameter[], flag: string): Parameter | undefined {
  if (!flag.startsWith('no-')) return undefined;
  const found = findParameter(parameters, flag.slice(3));
  return found?.type === 'boolean' ? found : undefined;
}

function unknownFlag(flag: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return `the tool takes no --${flag}; it has no parameters`;
  const all = parameters.map(({ name }) => `--${name}`);
  const shown = all.slice(0, 12).join(', ');
  return `the tool takes no --${flag}; it takes ${shown}${all.length > 12 ? ', …' : ''}`;
}

function plant(tree: Tree, path: readonly string[], text: string): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) return void tree.set(key, text);
  const held = tree.get(key);
  const branch = held instanceof Map ? held : branchOf(held);
  tree.set(key, branch);
  plant(branch, rest, text);
}

const branchOf = (held = ''): Tree => new Map(held.startsWith('{') ? rawMembers(held) : []);

/** Returns the values given for a parameter as JSON text. */
function toText(parameter: Parameter, given: readonly string[]): string {
  const { name, type, element, isNullable } = parameter;
  const [first = '', second] = given;
  if (isNullable && second === undefined && first === 'null') return 'null';
  if (type === 'array') {
    if (second === undefined && first.trimStart().startsWith('[')) return toJsonList(name, first);
    return `[${given.map(value => toLeaf(parameter, element, value)).join(',')}]`;
  }
  if (second !== undefined) throw usage(`--${name} is given twice, but takes one value`);
  return toLeaf(parameter, type, first);
}

function toLeaf({ name, values }: Parameter, type: ParameterType, value: string): string {
  const text = toScalar(name, type, value);
  if (!values || values.some(allowed => JSON.stringify(allowed) === text)) return text;
  const shown = values
    .slice(0, 12)
    .map(allowed => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed)));
  throw usage(`--${name} must be one of ${shown.join(', ')}; not '${value}'`);
}

function toScalar(name: string, type: ParameterType, value: string): string {
  switch (type) {
    case 'string':
      return JSON.stringify(value);
    case 'integer':
      if (INTEGER.test(value)) return value;
      throw usage(`--${name} must be a whole number; not '${value}'`);
    case 'number':
      if (NUMBER.test(value)) return value;
      throw usage(`--${name} must be a number; not '${value}'`);
    case 'boolean':
      if (value === 'true' || value === 'false') return value;
      throw usage(`--${name} must be true or false; not '${value}'`);
    case 'array':
      return toJsonList(name, value);
    case 'json':
      return toJsonOrText(value);
  }
}

function toJsonList(name: string, value: string): string {
  if (Array.isArray(tryJson(value))) return value;
  throw usage(`--${name} must be a JSON list; not '${value}'`);
}

/** Text that is not JSON becomes a JSON string. */
const toJsonOrText = (value: string): string =>
  tryJson(value) === undefined ? JSON.stringify(value) : value;
