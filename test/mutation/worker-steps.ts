/** What a judge and a test file in workerd tell each other. */

/** Where the judge is asked: it answers what goes out of workerd. */
export const JUDGE = 'http://mutation.test';
/** After so many rounds a loop does not end. */
export const MAX_TICKS = 20_000_000;

/** What a test file has to do: which mutant is active (0 is none). */
export interface Step {
  mutant: number;
  /** Whether the modules are read anew. */
  isReadAnew: boolean;
  /** Milliseconds for each test. */
  timeout: number;
}

/** How it ended. */
export interface Ended {
  testPath: string;
  mutant: number;
  passed: number;
  /** Milliseconds of the longest test. */
  longest: number;
  /** Which mutants its tests came by, and which were met when modules were read. */
  seen: number[];
  loaded: number[];
}
