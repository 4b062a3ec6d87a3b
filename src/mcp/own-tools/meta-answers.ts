/**
 * Texts in which a model reads about tools: search hits (`meta-search.ts`) and descriptions; small, and equal for equal state. Text that
 * servers wrote is data here: in the gateway's own texts it is put on one line, bounded and made visible; in a server's definition it stays
 * as written.
 */
import type { ListedItem } from '../../gateway/listing.ts';
import { fromRawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import type { SearchHit, SearchResult } from '../../gateway/search.ts';
import { toOwnMembers } from '../reply/list-result.ts';
import { hintOf, toSignature } from './signature.ts';

const MAX_DESCRIPTION_CHARS = 160;
const MAX_NAME_CHARS = 256;
const MAX_QUERY_CHARS = 80;
const NOTHING = 'No tool fits; search with other or fewer words.';

/** Members of a definition that a model needs to call the tool, and all members that are shown. */
const READ = ['name', 'description', 'inputSchema', 'annotations'];
const SHOWN = [...READ, 'title', 'outputSchema', 'execution'];

const toShown = (name: string) => toOneLine(name, MAX_NAME_CHARS);

/** Returns the first words of a tool's description, else of its title. */
export function toShortDescription({ item }: ListedItem): string {
  for (const member of ['description', 'title']) {
    const value: unknown = JSON.parse(item.raw.get(member) ?? 'null');
    const line = typeof value === 'string' ? toOneLine(value, MAX_DESCRIPTION_CHARS) : '';
    if (line !== '') return line;
  }
  return '';
}

/** Rounds a score to two decimals, which show how well a tool fits. */
const toShownScore = (score: number) => Math.round(score * 100) / 100;

/** A hit for programs, and for hosts that show their models only the structured content. */
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

/** A hit for a model. Its position shows how well it fits: a number would be mistaken for a measure. */
function toLine({ name, signature, hint, description }: ReturnType<typeof toFound>): string {
  const mark = hint === undefined ? '' : ` [${hint}]`;
  return `${toShown(name)}${signature}${mark}: ${description}`;
}

/** A query and what was found for it. */
interface Answered {
  query: string;
  result: Pick<SearchResult, 'hits' | 'unmatched'>;
}

/** Returns the raw result of a search. Each tool is shown once, under the query that found it first. */
export function foundText(answered: readonly Answered[], notes: readonly string[] = []): string {
  const tools = new Map<string, ReturnType<typeof toFound>>();
  const texts = answered.map(({ query, result }) => {
    const lines: string[] = [];
    const again: string[] = [];
    for (const hit of result.hits) {
      if (tools.has(hit.name)) again.push(toShown(hit.name));
      else {
        const found = toFound(hit);
        tools.set(hit.name, found);
        lines.push(toLine(found));
      }
    }
    if (again.length > 0) lines.push(`Also, from above: ${again.join(', ')}`);
    if (lines.length === 0) lines.push(NOTHING);
    const { unmatched = [] } = result;
    if (unmatched.length > 0) lines.push(`No tool here has: ${unmatched.map(toShown).join(', ')}.`);
    if (answered.length > 1) lines.unshift(`# ${toOneLine(query, MAX_QUERY_CHARS)}`);
    return lines.join('\n');
  });
  const queries = answered.map(({ query, result }) => ({
    query,
    tools: result.hits.map(({ name }) => name),
  }));
  const several = answered.length > 1 ? { queries } : {};
  return JSON.stringify({
    content: [{ type: 'text', text: [...texts, ...notes].join('\n') }],
    structuredContent: { tools: [...tools.values()], ...several },
  });
}

/** Returns the raw result that shows definitions: programs get all shown members, a model gets those it needs for a call. */
export function describedText(items: readonly ListedItem[]): string {
  const members = items.map(item => toOwnMembers(item, 'tools'));
  const textOf = (keys: readonly string[]) => members.map(own => fromRawMembers(only(own, keys)));
  const content = JSON.stringify([{ type: 'text', text: textOf(READ).join('\n') }]);
  return `{"content":${content},"structuredContent":{"tools":[${textOf(SHOWN).join(',')}]}}`;
}

const only = (members: RawObject, keys: readonly string[]): RawObject =>
  new Map([...members].filter(([key]) => keys.includes(key)));
