/** The command line of the conformance run. Refuses unknown options with one clear line. */
import { parseArgs } from 'node:util';

export const PARTS = ['direct', 'server', 'client', 'authorization'] as const;
/**
 * `direct`: our fixtures and our user without the gateway; `server`: the gateway as a server; `client`: the gateway as a client;
 * `authorization`: its authorization server.
 */
export type Part = (typeof PARTS)[number];

export interface Options {
  parts: readonly Part[];
  /** Run only this scenario, in every revision that names it; it counts, scored or not. */
  scenario: string | undefined;
}

export const HELP = `npm run conformance [-- options]

Runs the official conformance suite of the protocol: against our fixtures and with our user alone, then through the
gateway in front of the fixtures (as a server), then with the gateway in front of the suite's own servers (as a client), then against
its authorization server. Loopback only; ends by itself. Prints a table, writes test/conformance/results/; a whole run also writes docs/conformance.md.
Exits with 1 unless all required scenarios pass.

  --direct          only without the gateway: what a failure through it is measured against
  --server          only the gateway as a server
  --client          only the gateway as a client
  --authorization   only the authorization server of the gateway
  --scenario NAME   only this scenario, with every failed check
  --help            this text
`;

/** Parses arguments; `undefined` means that help was requested. Throws with one clear line otherwise. */
export function parseOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      direct: { type: 'boolean', default: false },
      server: { type: 'boolean', default: false },
      client: { type: 'boolean', default: false },
      authorization: { type: 'boolean', default: false },
      scenario: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const chosen = PARTS.filter(part => values[part]);
  return { parts: chosen.length > 0 ? chosen : PARTS, scenario: values.scenario };
}
