/** Looks up the skills of listed tools and counts tools per skill. Pure: a tool that is not in the list is never counted. */
import type { ListedItem } from '../../gateway/listing.ts';
import type { ServerSkills, ToolSkills } from '../../servers/registry/tool-skills.ts';

/** Returns the skills of a listed tool; undefined where it has not been classified yet. */
export function skillsOfItem(
  { server, item }: ListedItem,
  known: ReadonlyMap<string, ServerSkills>,
): ToolSkills | undefined {
  return known.get(server.id)?.get(item.key);
}

/** Counts tools per skill. @param items what the caller may see */
export function countTools(
  items: readonly ListedItem[],
  known: ReadonlyMap<string, ServerSkills>,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) {
    for (const { id } of skillsOfItem(item, known)?.skills ?? []) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return counts;
}
