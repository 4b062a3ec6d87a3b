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
  /** Id of the only skill to search. */
  skill?: string;
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

export interface SearchResult {
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

export interface Found {
  tools: readonly FoundTool[];
  serversSearched: number;
  toolsSearched: number;
}

export type FindTools = (visible: VisibleServers, request: SearchRequest) => Promise<Found>;
