/** The form values of a toolset, and the request bodies made from them. Pure. */
import type { CreateToolset, Toolset, UpdateToolset } from '../../generated/types.gen.ts';
import { itemsOf, toDraft, type ListDraft } from '../../parts/list-draft.ts';

/** Another name or description for a tool; empty: the tool's own. */
export interface Override {
  server: string;
  tool: string;
  name: string;
  description: string;
}

export interface ToolsetValues {
  name: string;
  description: string;
  /** Picked tools, and patterns. */
  include: ListDraft;
  exclude: ListDraft;
  overrides: readonly Override[];
  /** Empty: the deployment's default. */
  style: '' | NonNullable<Toolset['name_style']>;
  shown: '' | NonNullable<Toolset['tools']>;
  isForSome: boolean;
  groups: ListDraft;
  /** Ids; the console does not edit them. */
  principals: readonly string[];
}

export function valuesOf(toolset: Toolset | undefined): ToolsetValues {
  const { members } = toolset ?? {};
  return {
    name: toolset?.name ?? '',
    description: toolset?.description ?? '',
    include: toDraft(toolset?.include ?? []),
    exclude: toDraft(toolset?.exclude ?? []),
    overrides: (toolset?.overrides ?? []).map(({ name = '', description = '', ...of }) => {
      return { ...of, name, description };
    }),
    style: toolset?.name_style ?? '',
    shown: toolset?.tools ?? '',
    isForSome: members !== undefined,
    groups: toDraft(members?.groups ?? []),
    principals: members?.principals ?? [],
  };
}

/** The body that creates a toolset. */
export function toToolset(values: ToolsetValues): CreateToolset {
  const { style, shown, isForSome, principals } = values;
  const groups = itemsOf(values.groups);
  return {
    name: values.name.trim(),
    description: values.description,
    include: itemsOf(values.include),
    exclude: itemsOf(values.exclude),
    overrides: values.overrides.map(({ server, tool, name, description }) => ({
      server,
      tool,
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(description.trim() !== '' && { description }),
    })),
    ...(style !== '' && { name_style: style }),
    ...(shown !== '' && { tools: shown }),
    ...(isForSome && { members: { groups, principals: [...principals] } }),
  };
}

/** A complete update; what is not set is cleared. */
export function toUpdate(values: ToolsetValues): UpdateToolset {
  return { name_style: null, tools: null, members: null, ...toToolset(values) };
}

/** Adds an entry to a list, or removes it. */
export const toggled = ({ items, typed }: ListDraft, item: string): ListDraft => ({
  items: items.includes(item) ? items.filter(each => each !== item) : [...items, item],
  typed,
});
