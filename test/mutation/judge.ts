/** What a judge of mutants gets, and the verdict that it reports. */
import type { Mutant } from './mutate.ts';

export interface Case {
  codes: ReadonlyMap<string, string>;
  mutants: readonly Mutant[];
  /** When to stop, in milliseconds since 1970. */
  endsAt: number;
  /** Names of the test files that judge. */
  testsNamed: RegExp;
  tell(verdict: Verdict): void;
}

export interface Verdict {
  mutant: Mutant;
  isKilled: boolean;
  /** Whether any test executes the mutant. */
  isMet: boolean;
}
