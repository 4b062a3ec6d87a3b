/**
 * The skills of a tool, as every room reads them. Pure.
 *
 * Invariants: a classified tool has one to three skills, an unclassified one has none; they are ordered by descending confidence, then by
 * id.
 */
import type { Server } from './server-schema.ts';

/** Who classified it: the embedded classifier, a language model, an administrator; `none` if nobody could. */
export const SOURCES = ['embedded', 'llm', 'hand', 'none'] as const;
export type Source = (typeof SOURCES)[number];

/** A skill that a tool is in. */
export interface Assigned {
  id: string;
  /** Probability that the assignment is right, 0 to 1. */
  confidence: number;
}

export interface ToolSkills {
  /** One to three, most confident first; empty if the tool is not classified. */
  skills: readonly Assigned[];
  /** The first skill, if its confidence is at least 0.5. */
  primary: string | undefined;
  isClassified: boolean;
  /** Why it is not classified, if known. */
  reason: string | undefined;
  source: Source;
}

/** Skills of one server's tools, by the server's own names. Undefined for a tool that no classifier has processed yet. */
export interface ServerSkills {
  get(tool: string): ToolSkills | undefined;
}

/** Returns the skills of the servers' tools, by server id. Reads no store while nothing changed. */
export type SkillsOf = (servers: readonly Server[]) => Promise<ReadonlyMap<string, ServerSkills>>;

/** Minimum confidence of a primary skill. */
export const PRIMARY_CONFIDENCE = 0.5;
/** Maximum number of skills per tool. */
export const MAX_SKILLS = 3;

/** Removes duplicates, orders by confidence, and keeps as many as a tool may have. */
export function toAssigned(found: readonly Assigned[]): Assigned[] {
  const best = new Map<string, number>();
  for (const { id, confidence } of found) {
    best.set(id, Math.max(best.get(id) ?? 0, toConfidence(confidence)));
  }
  return [...best]
    .map(([id, confidence]) => ({ id, confidence }))
    .toSorted((a, b) => b.confidence - a.confidence || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_SKILLS);
}

/** Clamps to 0..1 and rounds to three decimals. */
const toConfidence = (confidence: number): number =>
  Math.round(Math.min(Math.max(confidence, 0), 1) * 1_000) / 1_000;

/** Builds the skills of a tool from what is stored. @param skills in display order */
export function toToolSkills(
  skills: readonly Assigned[],
  source: Source,
  reason: string | null,
): ToolSkills {
  const [first] = skills;
  const isPrimary = first !== undefined && first.confidence >= PRIMARY_CONFIDENCE;
  return {
    skills,
    primary: isPrimary ? first.id : undefined,
    isClassified: first !== undefined,
    reason: first === undefined ? (reason ?? undefined) : undefined,
    source,
  };
}
