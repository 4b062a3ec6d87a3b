/** What a judge of mutants is given, and what it says. */
import type { Mutant } from './mutate.ts';

export interface Case {
  codes: ReadonlyMap<string, string>;
  mutants: readonly Mutant[];
  /** When to stop, in milliseconds since 1970. */
  endsAt: number;
  /** Which files of tests judge, by their names. */
  testsNamed: RegExp;
  tell(verdict: Verdict): void;
}

export interface Verdict {
  mutant: Mutant;
  isKilled: boolean;
  /** Whether any test comes by it. */
  isMet: boolean;
}
