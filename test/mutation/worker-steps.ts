/** The messages between a judge and a test file in workerd. */

/** The judge's address: the judge answers workerd's outbound requests. */
export const JUDGE = 'http://mutation.test';
/** A loop with more iterations is considered endless. */
export const MAX_TICKS = 20_000_000;

/** The next step of a test file: which mutant is active (0 is none). */
export interface Step {
  mutant: number;
  /** Whether to load the modules again. */
  isReadAnew: boolean;
  /** Timeout of each test, in milliseconds. */
  timeout: number;
}

/** How the test file ended. */
export interface Ended {
  testPath: string;
  mutant: number;
  passed: number;
  /** Duration of the longest test, in milliseconds. */
  longest: number;
  /** The mutants that its tests executed; `loaded`: those executed while modules loaded. */
  seen: number[];
  loaded: number[];
}
