/**
 * Mends items of a server's lists so that clients can take them. A parser that refuses one item costs its user the whole list. If only an
 * optional part is invalid (a title that is a number, null for nothing), that part is left out and the item stays. Pure.
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

/** As strict as the strictest of the published SDKs: Python's refuses a broken `size`, and a title of an argument that is no text. */
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

/** Members that an item must have. */
const NEEDED: Record<Kind, readonly string[]> = {
  tools: ['name', 'inputSchema'],
  resources: ['uri', 'name'],
  resourceTemplates: ['uriTemplate', 'name'],
  prompts: ['name'],
};

/** Most characters of the path of a fault in a message. */
const MAX_PATH_CHARS = 64;

type Path = readonly PropertyKey[];

export interface MendedItem {
  /** JSON text of the item, unchanged if nothing had to be left out. */
  text: string;
  /** The first part that was left out and was not null, if any. */
  left: string | undefined;
}

/**
 * @param text JSON text of an item
 * @param item the same, parsed
 * @returns the item in a form that clients can take, or why there is none
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

/** Returns how much of a path is the part to leave out: a member of a prompt's argument, else a member of the item. */
const partLength = (path: Path): number => (path[0] === 'arguments' && path.length > 1 ? 3 : 1);

/** Whether an item is complete without the part that a path leads into. */
function isSpare(kind: Kind, path: Path, item: unknown): boolean {
  const [member] = path;
  if (typeof member !== 'string' || NEEDED[kind].includes(member)) return false;
  if (member !== 'arguments') return true;
  // Without its arguments a prompt would be another one.
  return path.length === 1 ? valueAt(item, path) === null : path.length > 2 && path[2] !== 'name';
}

/** Returns the text without the parts that the paths lead into, in one pass for all of them. */
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
