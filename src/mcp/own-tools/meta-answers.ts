/**
 * What the two tools answer that find and describe others: raw results, small and the same for the same state. What servers
 * wrote is data here: on one line, bounded and visible where it is a text of ours, as they wrote it where it is their definition.
 */
import type { ListedItem } from '../../gateway/listing.ts';
import { fromRawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import type { SearchHit } from '../../gateway/search.ts';
import { toOwnMembers } from '../reply/list-result.ts';
import { hintOf, toSignature } from './signature.ts';

const MAX_DESCRIPTION_CHARS = 160;
const MAX_NAME_CHARS = 256;

/** The members of a definition that a model needs to call the tool, and those that are shown at all. */
const READ = ['name', 'description', 'inputSchema', 'annotations'];
const SHOWN = [...READ, 'title', 'outputSchema', 'execution'];

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

/** A hit for programs, and for hosts that show their models nothing else. */
function toFound(hit: SearchHit) {
  const hint = hintOf(hit.item);
  return {
    name: hit.name,
    signature: toSignature(hit.item),
    ...(hint === undefined ? {} : { hint }),
    description: toShortDescription(hit),
    score: toShownScore(hit.score),
    server: hit.server.name,
  };
}

/** A hit for a model. Its place tells how well it fits: a number would be taken for a measure. */
function toLine({ name, signature, hint, description }: ReturnType<typeof toFound>): string {
  const mark = hint === undefined ? '' : ` [${hint}]`;
  return `${toOneLine(name, MAX_NAME_CHARS)}${signature}${mark}: ${description}`;
}

/** The raw result of a search. */
export function foundText(hits: readonly SearchHit[]): string {
  const tools = hits.map(toFound);
  const text =
    tools.length === 0
      ? 'No tool fits; search with other or fewer words.'
      : tools.map(toLine).join('\n');
  return JSON.stringify({ content: [{ type: 'text', text }], structuredContent: { tools } });
}

/** The raw result that shows definitions: whole to programs, to a model what it needs for a call. */
export function describedText(items: readonly ListedItem[]): string {
  const members = items.map(item => toOwnMembers(item, 'tools'));
  const textOf = (keys: readonly string[]) => members.map(own => fromRawMembers(only(own, keys)));
  const content = JSON.stringify([{ type: 'text', text: textOf(READ).join('\n') }]);
  return `{"content":${content},"structuredContent":{"tools":[${textOf(SHOWN).join(',')}]}}`;
}

const only = (members: RawObject, keys: readonly string[]): RawObject =>
  new Map([...members].filter(([key]) => keys.includes(key)));
