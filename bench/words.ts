/** The arguments of a benchmark without options except `--help`. */
import { parseArgs } from 'node:util';

/** @param help printed for `--help`; after it, and for an unknown option, the process ends */
export function readWords(help: string): string[] {
  try {
    const options = { help: { type: 'boolean', default: false } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (!values.help) return positionals;
    process.stdout.write(help);
    return process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}; --help tells more\n`);
    return process.exit(2);
  }
}
