/** The command line of `npm run bench:peers`. Refuses unknown options with one line that says what is wrong. */
import { parseArgs } from 'node:util';

/** The options of a run. */
export interface PeerOptions {
  /** Names of gateways; undefined: all. */
  only: string[] | undefined;
  rounds: number;
  sliceMs: number;
  tools: number;
  /** A file to write the table to as well. */
  out: string | undefined;
}

/** The text of `--help`. @param names of the gateways */
export const toHelp = (names: readonly string[]): string => `npm run bench:peers [-- options]

Measures Portico beside other gateways, which it installs in a folder of its own: what reaches a
client, latency and throughput, memory, recovery, and what a list of 10,000 tools costs. Prints a
table as Markdown; loopback only; ends by itself, within 15 minutes. Ctrl-C ends all that it started.

  --only NAME,…  these gateways: ${names.join(', ')}
  --quick        the same in some six minutes: fewer and shorter rounds, 1,000 tools
  --out FILE     writes the table there too
  --help         this text

Examples
  npm run bench:peers
  npm run bench:peers -- --quick --only Portico,mcp-hub
  npm run bench:peers -- --out compared.md
`;

/** @returns undefined for `--help`. @throws Error with one line */
export function parsePeerOptions(
  args: string[],
  names: readonly string[],
): PeerOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only?.split(',').map(name => name.trim());
  const unknown = only?.find(name => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--only: there is no gateway "${unknown}"; there are ${names.join(', ')}`);
  }
  const size = values.quick
    ? { rounds: 2, sliceMs: 300, tools: 1_000 }
    : { rounds: 5, sliceMs: 600, tools: 10_000 };
  return { only, out: values.out, ...size };
}
