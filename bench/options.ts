/**
 * The command line of the benchmark. Owns its options, defaults and limits; refuses everything else with one line that says what is wrong.
 */
import { parseArgs } from 'node:util';

export interface Options {
  /** Measured rounds; one more runs first and is discarded. */
  rounds: number;
  /** Length of each slice of load. */
  secondsPerSlice: number;
  profile: boolean;
  /** Compares Portico with and without the call audit, instead of with the relay. */
  audit: boolean;
  /** Compares Portico with and without its log and traces, instead of with the relay. */
  telemetry: boolean;
  /** Compares calls without a cache rule with cache misses and cache hits. */
  cache: boolean;
  /** Compares a program behind a connector with the same program called directly over stdio. */
  stdio: boolean;
  /** Measures SDK clients and servers instead of our own. */
  sdk: boolean;
  /** Measures searches over 1,000 and 10,000 tools. */
  search: boolean;
  /** Counts the tokens of lists of tools. */
  tokens: boolean;
  /** Measures processor time instead of clock time. */
  cpu: boolean;
}

export const HELP = `npm run bench [-- options]

Measures Portico against a bare relay Worker in the same workerd, in front of the same upstream.
Prints a table and writes it to bench/results/latest.md and latest.json. Loopback only; ends by itself.

  --rounds N     measured rounds, 1 to 50 (default 20; one more is run first and discarded)
  --seconds N    seconds per slice, 0.1 to 10 (default 0.3; a round has 16 slices)
  --quick        the same in under 40 seconds: --rounds 4 --seconds 0.2
  --profile      no table: CPU profiles of Portico to bench/results/, hottest functions printed
  --cpu          processor time of workerd per request, in place of time: steadier on a busy machine
  --audit        what the audit of calls costs: Portico with it against Portico without it
  --telemetry    what its log and traces cost: Portico with them against Portico without them
  --cache        what the cache of results costs where it misses, and saves where it hits
  --stdio        a stdio server through portico connect and Portico against the same one called directly
  --sdk          clients of the SDKs 1.x and 2.x at a server of the 1.x, as they are by themselves
  --search       what a search over 1,000 and over 10,000 tools costs, warm and cold
  --tokens       what tools/list costs a model, with all tools and with the three of ?tools=search
  --help         this text
`;

function numberBetween(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!(value >= least && value <= most)) {
    throw new Error(`--${name} must be a number from ${least} to ${most}, not ${text}`);
  }
  return value;
}

/** Parses arguments; returns undefined for `--help`. Throws with one clear line for an error. */
export function parseOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      audit: { type: 'boolean', default: false },
      telemetry: { type: 'boolean', default: false },
      cache: { type: 'boolean', default: false },
      stdio: { type: 'boolean', default: false },
      sdk: { type: 'boolean', default: false },
      search: { type: 'boolean', default: false },
      tokens: { type: 'boolean', default: false },
      cpu: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const [rounds, seconds] = values.quick ? ['4', '0.2'] : ['20', '0.3'];
  return {
    rounds: Math.floor(numberBetween('rounds', values.rounds ?? rounds, 1, 50)),
    secondsPerSlice: numberBetween('seconds', values.seconds ?? seconds, 0.1, 10),
    profile: values.profile,
    audit: values.audit,
    telemetry: values.telemetry,
    cache: values.cache,
    stdio: values.stdio,
    sdk: values.sdk,
    search: values.search,
    tokens: values.tokens,
    cpu: values.cpu,
  };
}
