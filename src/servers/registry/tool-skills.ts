/**
 * Which skills a tool has, as everybody reads it. Pure.
 *
 * Invariants: one to three skills of a tool that is classified, none of one that is not; the most confident first; equal ones in the
 * order of their ids.
 */
import type { Server } from './server-schema.ts';

/** Who said so: the embedded classifier, a language model, an administrator; `none` where nobody could. */
export const SOURCES = ['embedded', 'llm', 'hand', 'none'] as const;
export type Source = (typeof SOURCES)[number];

/** A skill that a tool is in. */
export interface Assigned {
  id: string;
  /** How likely that is right, 0 to 1. */
  confidence: number;
}

export interface ToolSkills {
  /** One to three, most confident first; empty where it is not classified. */
  skills: readonly Assigned[];
  /** The first with a confidence of 0.5 at least. */
  primary: string | undefined;
  isClassified: boolean;
  /** Why not, or undefined. */
  reason: string | undefined;
  source: Source;
}

/** Skills of one server's tools, by the server's own names. A tool that is not there was not looked at yet. */
export interface ServerSkills {
  get(tool: string): ToolSkills | undefined;
}

/** Skills of the tools of servers, by the server's id. Reads no store while nothing changed. */
export type SkillsOf = (servers: readonly Server[]) => Promise<ReadonlyMap<string, ServerSkills>>;

/** Least confidence of a primary skill. */
export const PRIMARY_CONFIDENCE = 0.5;
/** Most skills of one tool. */
export const MAX_SKILLS = 3;

/** In the order in which they are shown, as many as a tool may have, each once. */
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

/** Between 0 and 1, to three places. */
const toConfidence = (confidence: number): number =>
  Math.round(Math.min(Math.max(confidence, 0), 1) * 1_000) / 1_000;

/** What is read of an assignment. @param skills in the order in which they are shown */
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
