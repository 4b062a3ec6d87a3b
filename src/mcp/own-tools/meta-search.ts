/**
 * Answers `search_tools`, for one query or several. Where less was found than asked for, the answer says why: filters that name something
 * that is not here, or words that no tool here has. All of it comes from what the caller sees, so that hidden things look as if they did
 * not exist.
 */
import type { SearchRequest, SearchResult } from '../../gateway/search.ts';
import { MAX_NAME_CHARS } from '../../shared/util/name-limits.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import type { RequestContext } from '../request-context.ts';
import { foundText } from './meta-answers.ts';
import { nearestNames } from './nearest-tools.ts';

/** Most names in one note. */
const MAX_NAMES = 10;

/** @returns the raw result */
export async function answerSearch(
  { gateway, viewer }: RequestContext,
  requests: readonly SearchRequest[],
): Promise<string> {
  const results: SearchResult[] = [];
  // One after the other: a search keeps the whole isolate busy.
  for (const request of requests) results.push(await gateway.search(viewer, request));
  const [{ servers = [] } = {}] = requests;
  const seen = servers.length === 0 ? [] : (await gateway.visible(viewer)).servers;
  const known = (name: string) => seen.some(server => server.name === name || server.id === name);
  const unknown = servers.filter(name => !known(name)).slice(0, MAX_NAMES);
  const names = seen.map(({ name }) => name);
  const notes = [
    ...unknown.map(name => aboutServer(name, names)),
    ...aboutSkill(requests, results),
  ];
  return foundText(
    requests.map(({ query }, at) => ({ query, result: results[at] ?? NONE })),
    notes,
  );
}

const NONE: SearchResult = { hits: [], serversSearched: 0, toolsSearched: 0 };

const toShown = (name: string) => toOneLine(name, MAX_NAME_CHARS);

function aboutServer(wanted: string, names: readonly string[]): string {
  const near = nearestNames(wanted, names);
  const shown = near.length > 0 ? near : names.slice(0, MAX_NAMES);
  return `No server here is called ${toShown(wanted)}${toList(near.length > 0, shown, names.length)}.`;
}

/** Returns a note about a skill in which nothing was found, with the skills that may have been meant. */
function aboutSkill(
  [request]: readonly SearchRequest[],
  results: readonly SearchResult[],
): string[] {
  const here = results.find(({ skillsHere }) => skillsHere !== undefined)?.skillsHere;
  if (request?.skill === undefined || here === undefined) return [];
  const near = nearestNames(request.skill, here);
  const shown = near.length > 0 ? near : here.slice(0, MAX_NAMES);
  return [
    `No tool here has the skill ${toShown(request.skill)}${toList(near.length > 0, shown, here.length)}.`,
  ];
}

function toList(isNear: boolean, shown: readonly string[], count: number): string {
  if (shown.length === 0) return '';
  const more = isNear || shown.length === count ? '' : ', …';
  return `; ${isNear ? 'nearest' : 'here are'}: ${shown.map(toShown).join(', ')}${more}`;
}
