/**
 * Items of a server's lists as clients can take them. A parser that refuses one item takes its user the whole list. Where it is only a
 * part that need not be there (a title that is a number, null for nothing), the part is left out and the item stays. Pure.
 */
import { z } from 'zod';
import type { Kind } from '../../servers/catalog/catalog.ts';
import { editElements, editMember } from '../../shared/json/json-edit.ts';
import { fromRawMembers, rawMembers } from '../../shared/json/json-spans.ts';
import {
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ToolSchema,
  type JsonObject,
} from '../../shared/protocol.ts';

/** As strict as the strictest of the published SDKs: Python's takes no broken `size` and no title of an argument that is no text. */
const SCHEMAS = {
  tools: ToolSchema,
  resources: ResourceSchema.extend({ size: z.int().optional() }),
  resourceTemplates: ResourceTemplateSchema,
  prompts: PromptSchema.extend({
    arguments: z
      .array(
        z.looseObject({
          name: z.string(),
          title: z.string().optional(),
          description: z.string().optional(),
          required: z.boolean().optional(),
        }),
      )
      .optional(),
  }),
};

/** Without these an item is nothing. */
const NEEDED: Record<Kind, readonly string[]> = {
  tools: ['name', 'inputSchema'],
  resources: ['uri', 'name'],
  resourceTemplates: ['uriTemplate', 'name'],
  prompts: ['name'],
};

/** Most characters of where a fault is, that are told. */
const MAX_PATH_CHARS = 64;

type Path = readonly PropertyKey[];

export interface MendedItem {
  /** JSON text of the item, as it came where nothing had to be left out. */
  text: string;
  /** The first part that was left out and said something, if any. */
  left: string | undefined;
}

/**
 * @param text JSON text of an item
 * @param item the same parsed
 * @returns the item as clients can take it, or why nobody can
 */
export function mendItem(kind: Kind, text: string, item: unknown): MendedItem | { fault: string } {
  const paths = faultsOf(kind, item);
  if (paths.length === 0) return { text, left: undefined };
  const needed = paths.find(path => !isSpare(kind, path, item));
  if (needed) return { fault: toFault(needed) };
  const mended = without(text, paths);
  const [still] = faultsOf(kind, JSON.parse(mended));
  if (still) return { fault: toFault(still) };
  const said = paths.find(path => valueAt(item, path.slice(0, partLength(path))) !== null);
  return { text: mended, left: said && toText(said) };
}

const faultsOf = (kind: Kind, item: unknown): Path[] =>
  SCHEMAS[kind].safeParse(item).error?.issues.map(({ path }) => path) ?? [];

/** How much of a path is the part that is left out: a member of an argument of a prompt, else a member of the item. */
const partLength = (path: Path): number => (path[0] === 'arguments' && path.length > 1 ? 3 : 1);

/** Whether an item is whole without the part that a path leads into. */
function isSpare(kind: Kind, path: Path, item: unknown): boolean {
  const [member] = path;
  if (typeof member !== 'string' || NEEDED[kind].includes(member)) return false;
  if (member !== 'arguments') return true;
  // Without its arguments a prompt is another one.
  return path.length === 1 ? valueAt(item, path) === null : path.length > 2 && path[2] !== 'name';
}

/** The text without the parts that the paths lead into, in one reading, however many they are. */
function without(text: string, paths: readonly Path[]): string {
  const own = paths.filter(path => partLength(path) === 1).map(([member]) => String(member));
  const inArguments = new Map<unknown, string[]>();
  for (const path of paths) {
    if (partLength(path) === 1) continue;
    const [, index, inner] = path;
    const members = inArguments.get(index) ?? [];
    members.push(String(inner));
    inArguments.set(index, members);
  }
  const shorter = own.length === 0 ? text : withoutMembers(text, own);
  if (inArguments.size === 0) return shorter;
  let at = -1;
  return editMember(shorter, 'arguments', list =>
    editElements(list, element => {
      at += 1;
      const members = inArguments.get(at);
      return members ? withoutMembers(element, members) : element;
    }),
  );
}

function withoutMembers(text: string, names: readonly string[]): string {
  const members = rawMembers(text);
  for (const name of names) members.delete(name);
  return fromRawMembers(members);
}

const valueAt = (item: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[String(key)], item);

const toText = (path: Path): string => path.join('.').slice(0, MAX_PATH_CHARS);

const toFault = (path: Path): string =>
  path.length === 0 ? 'invalid' : `invalid at ${JSON.stringify(toText(path))}`;
