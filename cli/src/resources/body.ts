/** The body of a request, made of options and of JSON that was given; and a record as text for people. Pure. */
import { InvalidArgumentError, Option } from 'commander';
import { EXIT, Failure } from '../failure.ts';
import type { Field } from './resource.ts';

export type Body = Record<string, unknown>;

/** The option of a field, as commander names its value. */
export function toOption({ flags, about, takes, choices }: Field): Option {
  const option = new Option(flags, about);
  if (choices) option.choices([...choices]);
  if (takes === 'list') option.argParser((text, before?: string[]) => [...(before ?? []), text]);
  if (takes === 'number') option.argParser(readNumber);
  return option;
}

/** @throws InvalidArgumentError where it is no number: what is too large or too small the gateway says */
function readNumber(given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('It is no whole number.');
}

/** What options say of the fields; a subject is still a text. */
export function readFields(fields: readonly Field[], options: Body): Body {
  const said = fields.flatMap(each => {
    const value = options[toOption(each).attributeName()];
    return value === undefined ? [] : [[each.field, value] as const];
  });
  return Object.fromEntries(said);
}

/** @param source what it was read from @throws Failure where it is no JSON object */
export function readBody(json: string, source: string): Body {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  const what = source === '-' ? 'standard input' : source;
  throw new Failure(`${what} holds no JSON object`, EXIT.usage);
}

/** A field as text: lists in one line, records in them by their names, or their ids. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(toText).join(', ');
  const { id, name } = (value ?? {}) as { id?: unknown; name?: unknown };
  return typeof id === 'string' ? String(name ?? id) : JSON.stringify(value);
}
