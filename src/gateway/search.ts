/** What a search for tools asks and answers, whichever endpoint it came by. */
import type { ListedItem } from './listing.ts';
import type { VisibleServers } from './viewer.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { ToolSkills } from '../servers/registry/tool-skills.ts';

export interface SearchRequest {
  /** What the tool is wanted for, in any words. */
  query: string;
  /** Most hits that are wanted. */
  limit: number;
  /** Names or ids of the only servers to search; one that is unknown or hidden matches nothing. */
  servers?: readonly string[];
  /** Id or name of the only skill to search. */
  skill?: string;
  /** Tell too what of the request matches nothing. */
  tellsMisses?: true;
  /** Search only tools that say that they change nothing. */
  readOnly?: true;
}

/** A tool as the endpoint lists it, and how well it fits. */
export interface SearchHit extends ListedItem {
  server: Server;
  /** From 0 to 1, comparable across queries. */
  score: number;
  /** Its skills; undefined where nothing has classified it yet. */
  skills: ToolSkills | undefined;
}

/** What of a request matches nothing, of what takes part; absent where nobody asked. */
export interface Misses {
  /** Words of the query that no tool has. */
  unmatched?: readonly string[];
  /** Where no tool has the skill that was asked for: the ids of those that tools have. */
  skillsHere?: readonly string[];
}

export interface SearchResult extends Misses {
  /** The best first; equal scores by the names of server and tool. */
  hits: readonly SearchHit[];
  /** Servers that took part: within reach, connected, and wanted. */
  serversSearched: number;
  /** Tools that took part: those of these servers that the caller may see and the filters let through. */
  toolsSearched: number;
}

/** A tool that was found, by its server's own name of it. */
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

/** @param principalId who searches, where what that principal used may order what is found */
export type FindTools = (
  visible: VisibleServers,
  request: SearchRequest,
  principalId?: string,
) => Promise<Found>;
