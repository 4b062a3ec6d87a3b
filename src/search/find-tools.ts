/**
 * Searches the tools that a caller can see. Filters are applied before ranking, so hidden or filtered tools change no count, score or
 * order.
 */
import type { View } from '../access/policy/view.ts';
import { Lru } from '../shared/util/lru.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import type { ServerSkills, SkillsOf } from '../servers/registry/tool-skills.ts';
import type { EmbeddingSource } from './text/embedding-asset.ts';
import type { LearnedUses, LiftOf } from './learning/learned-uses.ts';
import type { ModelSearch } from './rank/model-search.ts';
import { rank, type Lift, type Searched } from './rank/rank.ts';
import type { FindTools, SearchRequest } from '../gateway/search.ts';
import type { Segment } from './index/segment.ts';
import { TUNING } from './rank/tuning.ts';
import { toUnmatched } from './unmatched-words.ts';

/** How many filter masks are cached per segment. */
const MAX_MASKS = 16;

export interface FindPorts {
  /** One entry per server, in the order of `servers`. */
  segmentsOf(servers: readonly Server[]): Promise<readonly (Segment | undefined)[]>;
  embedding: EmbeddingSource;
  skillsOf: SkillsOf;
  /** Resolves a skill's name or id to its id. */
  skillIdOf(named: string): Promise<string>;
  /** Present only where the deployment learns from use. */
  learned?: Pick<LearnedUses, 'liftOf'> | undefined;
  /** Present only where the deployment has an embedding model. */
  model?: ModelSearch | undefined;
}

/** One server that is searched. */
interface Part extends Searched {
  of: Server;
  /** Tools visible to the caller, regardless of the request's filters. */
  seen: Uint8Array;
  shown: Uint8Array;
}

/** Builds the search function from its index and skill sources. */
export function createFindTools(ports: FindPorts): FindTools {
  const { segmentsOf, embedding, skillsOf, model, learned } = ports;
  return async (visible, request, principalId) => {
    const skill = request.skill === undefined ? undefined : await ports.skillIdOf(request.skill);
    const servers = visible.servers.filter(server => takesPart(server, request));
    const [skills, table, segments, modelVectors, liftOf] = await Promise.all([
      skillsOf(servers),
      embedding(),
      segmentsOf(servers),
      model ? model.vectorsOf(servers) : [],
      principalId === undefined ? undefined : learned?.liftOf(principalId, request.query),
    ]);
    const parts = servers.map((server, i): Part | undefined => {
      const segment = segments[i];
      if (!segment) return undefined;
      const view = visible.views?.get(server.id);
      const seen = maskOf(segment, view);
      // A server of which the caller sees nothing is not counted as searched.
      if (view && !view.rest && !seen.includes(1)) return undefined;
      const shown = narrow(seen, segment, { ...request, skill }, skills.get(server.id));
      const { name, description } = server;
      const about = { name, description };
      return { of: server, segment, seen, shown, modelVectors: modelVectors[i], server: about };
    });
    const searched = parts.filter(part => part !== undefined);
    const usesModel = searched.some(part => part.modelVectors !== undefined);
    const vector = usesModel ? await model?.vectorOf(request.query) : undefined;
    const lift = liftOf && toLiftOfPlaces(liftOf, searched);
    const ranked = rank(request.query, searched, table, request.limit, TUNING, vector, lift);
    const tools = ranked.flatMap(({ searched: index, tool: at, score }) => {
      const part = searched[index];
      if (!part) return [];
      const tool = part.segment.nameOf(at);
      return [{ server: part.of, tool, score, skills: skills.get(part.of.id)?.get(tool) }];
    });
    const toolsSearched = searched.reduce((sum, { shown }) => sum + countOf(shown), 0);
    const found = { tools, serversSearched: searched.length, toolsSearched };
    if (!request.returnsUnmatched) return found;
    if (toolsSearched > 0)
      return { ...found, unmatched: toUnmatched(request.query, searched, table) };
    return skill === undefined ? found : { ...found, skillsHere: skillsOfSeen(searched, skills) };
  };
}

function toLiftOfPlaces(liftOf: LiftOf, parts: readonly Part[]): Lift {
  return (searched, tool) => {
    const part = parts[searched];
    return part ? liftOf(part.of, part.segment.nameOf(tool)) : 0;
  };
}

/** Ids of the skills that the caller's visible tools have, sorted. */
function skillsOfSeen(
  parts: readonly Part[],
  skills: ReadonlyMap<string, ServerSkills>,
): readonly string[] {
  const ids = parts.flatMap(({ of, seen, segment }) =>
    [...seen].flatMap((isSeen, at) => {
      const assigned = isSeen ? skills.get(of.id)?.get(segment.nameOf(at)) : undefined;
      return (assigned?.skills ?? []).map(({ id }) => id);
    }),
  );
  return [...new Set(ids)].toSorted();
}

function takesPart({ id, name, status }: Server, { servers }: SearchRequest): boolean {
  return isOffered(status) && (!servers || servers.includes(name) || servers.includes(id));
}

const remembered = new WeakMap<Segment, Lru<string, Uint8Array>>();

/** Returns the tools of a segment that a view shows, one byte per tool; cached per view. */
function maskOf(segment: Segment, view: View | undefined): Uint8Array {
  let masks = remembered.get(segment);
  if (!masks) remembered.set(segment, (masks = new Lru(MAX_MASKS)));
  const key = view?.key ?? '';
  const known = masks.get(key);
  if (known) return known;
  const mask = new Uint8Array(segment.size).fill(1);
  if (view && key !== '') {
    for (let i = 0; i < mask.length; i++) {
      mask[i] = Number(view.tool(segment.nameOf(i), segment.isReadOnly(i)));
    }
  }
  masks.set(key, mask);
  return mask;
}

/** Narrows the visible tools to those that pass the request's filters. */
function narrow(
  seen: Uint8Array,
  segment: Segment,
  { skill, readOnly }: { skill: string | undefined; readOnly?: true | undefined },
  skills: ServerSkills | undefined,
): Uint8Array {
  if (skill === undefined && !readOnly) return seen;
  return seen.map((shown, i) => {
    if (shown === 0 || (readOnly && !segment.isReadOnly(i))) return 0;
    if (skill === undefined) return 1;
    const assigned = skills?.get(segment.nameOf(i))?.skills ?? [];
    return Number(assigned.some(({ id }) => id === skill));
  });
}

const countOf = (mask: Uint8Array) => mask.reduce((sum, shown) => sum + shown, 0);
