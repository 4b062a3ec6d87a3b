/** The cost of the call audit and of rate limits: Portico without both, with the audit, and with both. */
import type { Options } from './options.ts';
import { measureVariants } from './variants.ts';

const OFF = { PORTICO_AUDIT_CALLS: 'off' };
const VARIANTS = {
  'audit on': {},
  'audit and limits': { PORTICO_RATE_LIMIT: '1000000', PORTICO_SERVER_RATE_LIMIT: '1000000' },
};

/** Runs all rounds; returns a table. */
export const measureAudit = (options: Options, say: (line: string) => void): Promise<string> =>
  measureVariants(OFF, VARIANTS, options, say);
