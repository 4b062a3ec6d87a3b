/** Types shared by the two classifiers: their questions and their results. */
import type { ClassifiedTool } from './features.ts';
import type { Assigned } from '../../servers/registry/tool-skills.ts';

/** A tool to classify. */
export interface Question extends ClassifiedTool {
  /** The server's own name for it. */
  name: string;
  fingerprint: string;
}

/** A skill that the taxonomy lacks. It derives from untrusted texts, so people review it; it is never applied by itself. */
export interface Suggestion {
  name: string;
  description: string;
}

/** The result for one tool: its skills, or the reason why it has none. */
export interface Classification {
  skills: readonly Assigned[];
  reason: string | null;
  suggestion?: Suggestion | undefined;
}
