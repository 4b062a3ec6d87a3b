/**
 * Extracts the searchable parts of a tool's definition from its server's raw JSON. The JSON is untrusted: members that are missing or of
 * the wrong type are left out, long texts are cut, and nothing throws.
 */
import { rawMembers, type RawObject } from '../../shared/json/json-spans.ts';

/** The searchable parts of a tool. */
export interface SearchedTool {
  name: string;
  title?: string;
  description?: string;
  parameters: readonly { name: string; description?: string }[];
  readOnly: boolean;
}

/** How much of each text is searched, in UTF-16 code units, and how many parameters. */
export const MAX_NAME_CHARS = 256;
export const MAX_TITLE_CHARS = 256;
export const MAX_DESCRIPTION_CHARS = 4_000;
export const MAX_PARAMETERS = 64;
export const MAX_PARAMETER_CHARS = 256;
const MAX_LEAD_CHARS = 200;
/** A sentence end before this position is taken for an abbreviation or a heading. */
const LEAST_LEAD_CHARS = 8;
const SENTENCE_END = /[.!?](?:\s|$)|[。！？\n]/u;

/**
 * Extracts what is searched of a catalog item. The name is kept whole, because it identifies the tool; other texts are cut.
 * @param raw members of the tool, raw JSON by key
 */
export function toSearchedTool(raw: RawObject): SearchedTool {
  const annotations = toMembers(raw.get('annotations'));
  const title = toText(raw.get('title'), MAX_TITLE_CHARS);
  const annotatedTitle = toText(annotations.get('title'), MAX_TITLE_CHARS);
  const description = toText(raw.get('description'), MAX_DESCRIPTION_CHARS);
  return {
    name: toText(raw.get('name'), Infinity) ?? '',
    ...withText('title', title ?? annotatedTitle),
    ...withText('description', description),
    parameters: toParameters(toMembers(raw.get('inputSchema'))),
    readOnly: annotations.get('readOnlyHint') === 'true',
  };
}

/**
 * Splits a description into its lead, which says what the tool is for, and the rest, which mostly says how to use it. The lead is the first
 * sentence, cut between words where it is long.
 */
export function divideDescription(description: string): { lead: string; rest: string } {
  const head = description.slice(0, MAX_LEAD_CHARS);
  const end = SENTENCE_END.exec(head.slice(LEAST_LEAD_CHARS));
  let length = head.length;
  if (end) length = LEAST_LEAD_CHARS + end.index + 1;
  else if (description.length > head.length && head.includes(' ')) length = head.lastIndexOf(' ');
  return { lead: description.slice(0, length), rest: description.slice(length) };
}

function toParameters(schema: RawObject): SearchedTool['parameters'] {
  const parameters: { name: string; description?: string }[] = [];
  for (const [name, value] of toMembers(schema.get('properties'))) {
    if (parameters.length === MAX_PARAMETERS) break;
    const description = toText(toMembers(value).get('description'), MAX_PARAMETER_CHARS);
    parameters.push({
      name: name.slice(0, MAX_PARAMETER_CHARS),
      ...withText('description', description),
    });
  }
  return parameters;
}

function withText<K extends string>(key: K, text: string | undefined): { [key in K]?: string } {
  return text === undefined ? {} : ({ [key]: text } as { [key in K]?: string });
}

/** Returns the members of an object, and none for any other value. */
function toMembers(value: string | undefined): RawObject {
  return value?.trimStart().startsWith('{') === true ? rawMembers(value) : new Map();
}

function toText(value: string | undefined, maxChars: number): string | undefined {
  if (value?.startsWith('"') !== true) return undefined;
  return (JSON.parse(value) as string).slice(0, maxChars);
}
