/** `portico import`: registers the servers of an mcp.json. Shows a plan, and carries it out with `--yes`. */
import { Option, type Command } from 'commander';
import { EXIT, Failure } from '../failure.ts';
import { addGatewayOptions, readTarget, type GatewayOptions } from '../gateway-options.ts';
import { Api } from '../gateway/api.ts';
import { readInput } from '../input.ts';
import { note, writeJson, writeTable } from '../terminal.ts';

interface Options extends GatewayOptions {
  json?: boolean;
  yes?: boolean;
  onConflict: string;
}

interface Imported {
  dry_run: boolean;
  entries: {
    given_name: string;
    name: string;
    action: string;
    reasons: string[];
    problems: { field: string; message: string }[];
    secrets: string[];
  }[];
}

const HELP = `
The file is any client's mcp.json, also with comments, or an export of a
registry. Secrets in headers are stored as secrets. Programs (command, args) are
not imported: portico connect runs those.

Examples:
  portico import ~/.cursor/mcp.json
  portico import mcp.json --yes
  portico import mcp.json --yes --on-conflict update`;

/** Adds `import`. */
export function addImport(program: Command): void {
  addGatewayOptions(program.command('import'))
    .argument('<file>', 'the file, or - for standard input')
    .summary('register the servers of an mcp.json')
    .description('Register the servers of an mcp.json.')
    .option('--yes', 'import; without it, only the plan is shown')
    .addOption(
      new Option('--on-conflict <rule>', 'what to do with names that are taken')
        .choices(['skip', 'update', 'fail'])
        .default('skip'),
    )
    .option('--json', 'print JSON for programs')
    .addHelpText('after', HELP)
    .action(importFile);
}

async function importFile(file: string, options: Options): Promise<void> {
  const { url, token } = readTarget(options);
  const query = new URLSearchParams({
    dry_run: String(options.yes !== true),
    on_conflict: options.onConflict,
  });
  const text = await readInput(file);
  const path = `/api/v1/aggregator/import?${query}`;
  const imported = await new Api(url, token).json<Imported>('POST', path, text);
  const { entries } = imported;
  if (options.json) await writeJson(imported);
  else {
    const rows = entries.map(({ given_name: given, name, action, reasons, problems, secrets }) => [
      given === name ? name : `${given} → ${name}`,
      action,
      [
        ...problems.map(({ field, message }) => `${field}: ${message}`),
        ...reasons,
        ...secrets.map(secret => `stores the secret ${secret}`),
      ].join('; '),
    ]);
    await writeTable(['NAME', 'ACTION', 'NOTES'], rows, { last: 'wrap' });
  }
  const bad = entries.filter(({ action }) => action === 'invalid' || action === 'failed');
  if (bad.length > 0) {
    const code = bad.some(({ action }) => action === 'failed') ? EXIT.failed : EXIT.usage;
    throw new Failure(`${bad.length} of ${entries.length} entries are invalid or failed`, code);
  }
  if (!options.yes && !options.json) note('this is only a plan; add --yes to apply it');
}
