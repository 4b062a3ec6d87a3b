/**
 * `portico apply`, `diff` and `export`: a gateway's records as a file. `diff` compares them with it, `export` writes it, `apply` makes the
 * gateway match it.
 */
import type { Command } from 'commander';
import type { FileOptions } from '../configuration/run-file.ts';
import { apiOf, shown, type ApiOptions } from '../gateway/api-command.ts';

const SECRETS = `
Secrets are written in the file as \${env:NAME} or \${file:PATH}; their values are
sent to the gateway and never shown.`;

const APPLY_HELP = `
The plan is made first. If the file has an error, refers to a missing secret or
uses a taken name, each problem is printed with its line and nothing is changed.
Records that the file creates are marked as its own: --prune deletes those that
are no longer in it, never records of people or of other files.
${SECRETS}

Examples:
  portico apply -f portico.yaml --dry-run
  portico apply -f portico.yaml --prune
  portico export > portico.yaml && portico apply -f portico.yaml --adopt`;

const DIFF_HELP = `
Exit code 0 if the gateway matches the file, 1 if it differs, 2 if the file is
invalid.

Examples:
  portico diff -f portico.yaml
  portico diff -f portico.yaml --prune --json | jq '.changes[].key'`;

const EXPORT_HELP = `
It writes all records that a file can hold, ready for portico apply. Credentials
are never shown: one that was given to a server as a value, not as a secret, is
left out, with a note.
${SECRETS}

Examples:
  portico export > portico.yaml
  portico export --json | jq .servers`;

/** Adds `apply`, `diff` and `export`. */
export function addApply(program: Command): void {
  const apply = ofFile(program.command('apply'), APPLY_HELP)
    .summary('make a gateway match a file')
    .description('Make the records of a gateway match a file.')
    .option('--dry-run', 'show what would change, and change nothing');
  // The YAML parser and the schemas are loaded only when needed.
  apply.action(async (options: FileOptions & { dryRun?: boolean }) =>
    (await import('../configuration/run-file.ts')).applyFile(options),
  );
  ofFile(program.command('diff'), DIFF_HELP)
    .summary('show how a gateway differs from a file')
    .description('Show what portico apply would change.')
    .action(async (options: FileOptions) =>
      (await import('../configuration/run-file.ts')).diffFile(options),
    );
  shown(program.command('export'))
    .summary('write the records of a gateway as a file')
    .description('Write the records of a gateway as a file for portico apply.')
    .addHelpText('after', EXPORT_HELP)
    .action(async (options: ApiOptions) => {
      const { writeExport } = await import('../configuration/run-export.ts');
      await writeExport(apiOf(options), options.json === true);
    });
}

const ofFile = (command: Command, help: string): Command =>
  shown(command.requiredOption('-f, --file <file>', 'the file, YAML or JSON; - for standard input'))
    .option('--prune', 'delete records that this file created and no longer contains')
    .option('--adopt', 'take over existing records that the file names')
    .addHelpText('after', help);
