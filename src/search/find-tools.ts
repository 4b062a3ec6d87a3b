/**
 * A search over what a caller reaches: filters first, then the ranking, so that what is hidden or filtered out changes no count,
 * no score and no order.
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

/** Filters of one segment that are remembered. */
const MAX_MASKS = 16;

export interface FindPorts {
  /** In the order of the servers. */
  segmentsOf(servers: readonly Server[]): Promise<readonly (Segment | undefined)[]>;
  embedding: EmbeddingSource;
  skillsOf: SkillsOf;
  /** The id of a skill that is named so or has this id. */
  skillIdOf(named: string): Promise<string>;
  /** Where the deployment learns from use. */
  learned?: Pick<LearnedUses, 'liftOf'> | undefined;
  /** Where the deployment has a model for vectors. */
  model?: ModelSearch | undefined;
}

/** One server that takes part. */
interface Part extends Searched {
  of: Server;
  /** What the caller sees, whatever the filters say. */
  seen: Uint8Array;
  shown: Uint8Array;
}

/** Search with the index and the skills there are. */
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
      // A server of which nothing is seen is no server.
      if (view && !view.rest && !seen.includes(1)) return undefined;
      const shown = narrow(seen, segment, { ...request, skill }, skills.get(server.id));
      const { name, description } = server;
      const about = { name, description };
      return { of: server, segment, seen, shown, modelVectors: modelVectors[i], server: about };
    });
    const searched = parts.filter(part => part !== undefined);
    const isModelAsked = searched.some(part => part.modelVectors !== undefined);
    const vector = isModelAsked ? await model?.vectorOf(request.query) : undefined;
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
    if (!request.tellsMisses) return found;
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

/** The skills that tools have which the caller sees. */
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

/** Which tools of a segment are seen through a view. */
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

/** What of the tools that are seen the filters of a request let through. */
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
