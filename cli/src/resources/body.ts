/** Builds request bodies from options and given JSON, and formats record fields for people. Pure. */
import { InvalidArgumentError, Option } from 'commander';
import { EXIT, Failure } from '../failure.ts';
import type { Field } from './resource.ts';
import { tryJson } from '../../../src/shared/json/json-spans.ts';

export type Body = Record<string, unknown>;

/** The commander option of a field. */
export function toOption({ flags, about, takes, choices }: Field): Option {
  const option = new Option(flags, about);
  if (choices) option.choices([...choices]);
  if (takes === 'list') option.argParser((text, before?: string[]) => [...(before ?? []), text]);
  if (takes === 'number') option.argParser(readNumber);
  return option;
}

/** @throws InvalidArgumentError where it is not a whole number; the gateway checks its range */
function readNumber(given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** Reads the fields from the options; a subject is still text. */
export function readFields(fields: readonly Field[], options: Body): Body {
  const said = fields.flatMap(each => {
    const value = options[toOption(each).attributeName()];
    return value === undefined ? [] : [[each.field, value] as const];
  });
  return Object.fromEntries(said);
}

/** @param source where the JSON came from @throws Failure where it is not a JSON object */
export function readBody(json: string, source: string): Body {
  const value = tryJson(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  const what = source === '-' ? 'standard input' : source;
  throw new Failure(`${what} does not contain a JSON object`, EXIT.usage);
}

/** Formats a field: lists on one line, records in them by name or id. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(toText).join(', ');
  const { id, name } = (value ?? {}) as { id?: unknown; name?: unknown };
  return typeof id === 'string' ? String(name ?? id) : JSON.stringify(value);
}
