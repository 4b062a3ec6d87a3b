/** What the two classifiers have in common: what they are asked, what they say. */
import type { ClassifiedTool } from './features.ts';
import type { Assigned } from '../../servers/registry/tool-skills.ts';

/** A tool to classify. */
export interface Question extends ClassifiedTool {
  /** The server's own name of it. */
  name: string;
  fingerprint: string;
}

/** A skill that is missed. Of untrusted texts: for people to review, never a decision. */
export interface Suggestion {
  name: string;
  description: string;
}

/** What is said of a tool: skills, or why none. */
export interface Verdict {
  skills: readonly Assigned[];
  reason: string | null;
  suggestion?: Suggestion | undefined;
}
