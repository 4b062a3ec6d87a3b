/**
 * What the two tools answer that find and describe others: raw results, small and the same for the same state. What servers
 * wrote is data here: on one line, bounded and visible where it is a text of ours, as they wrote it where it is their definition.
 */
import type { ListedItem } from '../../gateway/listing.ts';
import { fromRawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import type { SearchHit } from '../../gateway/search.ts';
import { toOwnMembers } from '../reply/list-result.ts';

const MAX_DESCRIPTION_CHARS = 160;
const MAX_NAME_CHARS = 256;

/** The members of a definition that a model needs to call the tool. */
const SHOWN = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'execution',
];

/** The first words of what a tool says of itself. */
export function toShortDescription({ item }: ListedItem): string {
  for (const member of ['description', 'title']) {
    const value: unknown = JSON.parse(item.raw.get(member) ?? 'null');
    const line = typeof value === 'string' ? toOneLine(value, MAX_DESCRIPTION_CHARS) : '';
    if (line !== '') return line;
  }
  return '';
}

/** Two digits tell how well a tool fits. */
const toShownScore = (score: number) => Math.round(score * 100) / 100;

/** The raw result of a search. */
export function foundText(hits: readonly SearchHit[]): string {
  const tools = hits.map(hit => ({
    name: hit.name,
    description: toShortDescription(hit),
    score: toShownScore(hit.score),
    server: hit.server.name,
  }));
  const lines = tools.map(
    ({ name, description, score }) =>
      `${toOneLine(name, MAX_NAME_CHARS)} (${score}): ${description}`,
  );
  const text =
    lines.length === 0 ? 'No tool fits; search with other or fewer words.' : lines.join('\n');
  return JSON.stringify({ content: [{ type: 'text', text }], structuredContent: { tools } });
}

/** The raw result that shows definitions. */
export function describedText(items: readonly ListedItem[]): string {
  const definitions = items.map(item => fromRawMembers(toShown(toOwnMembers(item, 'tools'))));
  const tools = `{"tools":[${definitions.join(',')}]}`;
  return `{"content":[{"type":"text","text":${JSON.stringify(tools)}}],"structuredContent":${tools}}`;
}

function toShown(members: RawObject): RawObject {
  return new Map([...members].filter(([key]) => SHOWN.includes(key)));
}
