/** Tools of a list with their skills, and how many are in each skill. Pure: what is not in the list counts nowhere. */
import type { ListedItem } from '../../gateway/listing.ts';
import type { ServerSkills, ToolSkills } from '../../servers/registry/tool-skills.ts';

/** The skills of a listed tool; undefined where it was not looked at yet. */
export function skillsOfItem(
  { server, item }: ListedItem,
  known: ReadonlyMap<string, ServerSkills>,
): ToolSkills | undefined {
  return known.get(server.id)?.get(item.key);
}

/** @param items what the caller may see */
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
