/** The finding of one check of `portico doctor`: one line, and what to do if it failed. */

export interface Finding {
  /** What was checked, in one or two words. */
  check: string;
  state: 'ok' | 'failed' | 'skipped';
  /** What was found. */
  detail: string;
  /** What to do; only where it failed. */
  advice?: string;
}

export const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail });

export const skipped = (check: string, detail: string): Finding => ({
  check,
  state: 'skipped',
  detail,
});

export const failed = (check: string, detail: string, advice: string): Finding => ({
  check,
  state: 'failed',
  detail,
  advice,
});
