/** The skills of a tool, as they were assigned. */
import type { Server } from '../registry/server-schema.ts';

export interface ToolSkills {
  /** One to three, the most confident first; none where the tool is not classified. */
  skills: readonly { id: string; confidence: number }[];
  /** The first one, where its confidence is 0.5 at least. */
  primary: string | undefined;
  isClassified: boolean;
  /** Why it is not classified. */
  reason: string | undefined;
  /** Who decided. */
  source: 'embedded' | 'llm' | 'hand' | 'none';
}

/** The skills of a server's tools, by the server's own names of them. */
export type ServerSkills = ReadonlyMap<string, ToolSkills>;

/** The skills of the tools of servers, by the servers' ids. */
export type SkillsOf = (servers: readonly Server[]) => Promise<ReadonlyMap<string, ServerSkills>>;
