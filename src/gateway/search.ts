/** The request and the result of a search for tools, whichever endpoint it came by. */
import type { ListedItem } from './listing.ts';
import type { VisibleServers } from './viewer.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { ToolSkills } from '../servers/registry/tool-skills.ts';

export interface SearchRequest {
  /** What the tool is needed for, in any words. */
  query: string;
  /** Most hits to return. */
  limit: number;
  /** Names or ids of the only servers to search; one that is unknown or hidden matches nothing. */
  servers?: readonly string[];
  /** Id or name of the only skill to search. */
  skill?: string;
  /** Also return what in the request matches nothing. */
  returnsUnmatched?: true;
  /** Search only tools that are declared read-only. */
  readOnly?: true;
}

/** A tool as the endpoint lists it, and how well it fits. */
export interface SearchHit extends ListedItem {
  server: Server;
  /** From 0 to 1, comparable across queries. */
  score: number;
  /** Its skills; undefined if it was not classified yet. */
  skills: ToolSkills | undefined;
}

/** What in a request matches none of the searched tools; absent if it was not asked for. */
export interface Misses {
  /** Words of the query that no tool has. */
  unmatched?: readonly string[];
  /** If no tool has the skill that was asked for: the ids of the skills that tools have. */
  skillsHere?: readonly string[];
}

export interface SearchResult extends Misses {
  /** The best first; equal scores by the names of server and tool. */
  hits: readonly SearchHit[];
  /** Number of searched servers: visible, connected, and not filtered out. */
  serversSearched: number;
  /** Number of searched tools: those of these servers that the caller may see and the filters let through. */
  toolsSearched: number;
}

/** A tool that was found, with its server's own name for it. */
export interface FoundTool {
  server: Server;
  tool: string;
  score: number;
  skills: ToolSkills | undefined;
}

export interface Found extends Misses {
  tools: readonly FoundTool[];
  serversSearched: number;
  toolsSearched: number;
}

/** @param principalId who searches; given if that principal's uses may reorder the result */
export type FindTools = (
  visible: VisibleServers,
  request: SearchRequest,
  principalId?: string,
) => Promise<Found>;
