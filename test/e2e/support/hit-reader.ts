/**
 * How a host reads one line of a search's result, and nothing else: the name of a tool and its parameters. If the line is incomplete, or it
 * is unclear where a fact belongs, the host is unsure and has the tool described.
 */

/** A parameter as a signature writes it: `name*: type~`. */
interface Parameter {
  name: string;
  type: string;
  isRequired: boolean;
  isLossy: boolean;
}

export interface Hit {
  name: string;
  parameters: readonly Parameter[];
  /** The tool has more than these parameters. */
  isOpen: boolean;
}

/** @returns undefined if the line is no hit */
export function readHit(line: string): Hit | undefined {
  const [, name, rest = ''] = /^([^\s(]+)(\(.*)$/.exec(line) ?? [];
  if (name === undefined) return undefined;
  const inner = rest.slice(1, endOf(rest));
  const texts = splitOutside(inner).filter(text => text !== '');
  const parameters = texts.flatMap((text): Parameter[] => {
    const [, own, mark, type = '', lossy] = /^([^:*]+)(\*?): (.*?)(~?)$/.exec(text) ?? [];
    if (own === undefined) return [];
    return [{ name: own, type, isRequired: mark === '*', isLossy: lossy === '~' }];
  });
  return { name, parameters, isOpen: parameters.length < texts.length };
}

/** Returns the index of the bracket that closes the first. */
function endOf(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ('({'.includes(text[at] ?? '')) depth += 1;
    if (')}'.includes(text[at] ?? '') && --depth === 0) return at;
  }
  return text.length;
}

/** Splits at commas outside of brackets. */
function splitOutside(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ('({'.includes(text[at] ?? '')) depth += 1;
    if (')}'.includes(text[at] ?? '')) depth -= 1;
    if (text[at] !== ',' || depth > 0) continue;
    parts.push(text.slice(from, at).trim());
    from = at + 1;
  }
  return [...parts, text.slice(from).trim()];
}

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: value => typeof value === 'string',
  integer: Number.isInteger,
  number: value => typeof value === 'number',
  boolean: value => typeof value === 'boolean',
};

/** Whether a value fits a type of a signature. */
function fits(type: string, value: unknown): boolean {
  if (type.endsWith('[]')) return Array.isArray(value);
  if (type.startsWith('{')) return typeof value === 'object' && !Array.isArray(value);
  if (type.startsWith('"')) return type.split('|').includes(JSON.stringify(value));
  return KINDS[type]?.(value) ?? false;
}

/**
 * Returns the arguments for the known facts, each under its own name. A fact with another name goes to the only parameter that is still
 * required, if there is just one. `unsure` if the line leaves it open.
 * @returns undefined if the tool cannot be the right one
 */
export function fillFromHit(
  { parameters, isOpen }: Hit,
  facts: Readonly<Record<string, unknown>>,
): Record<string, unknown> | 'unsure' | undefined {
  const required = parameters.filter(({ isRequired }) => isRequired);
  const given: Record<string, unknown> = {};
  const left: [string, unknown][] = [];
  for (const [word, value] of Object.entries(facts)) {
    const place = parameters.find(({ name }) => name === word);
    if (place && (place.isLossy || fits(place.type, value))) given[word] = value;
    else left.push([word, value]);
  }
  const open = required.filter(({ name }) => !(name in given));
  const free = parameters.length - Object.keys(given).length;
  if (open.length > left.length || (left.length > free && !isOpen)) return undefined;
  const used = [...parameters.filter(({ name }) => name in given), ...open];
  if (isOpen || used.some(parameter => parameter.isLossy)) return 'unsure';
  if (open.length === 0 && left.length === 0) return given;
  const [place] = open;
  const [fact] = left;
  const isOnlyOne = open.length === 1 && left.length === 1 && place && fact;
  if (isOnlyOne) return fits(place.type, fact[1]) ? { ...given, [place.name]: fact[1] } : undefined;
  return 'unsure';
}
