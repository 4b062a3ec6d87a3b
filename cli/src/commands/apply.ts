/**
 * `portico apply`, `diff` and `export`: a gateway's records as a file. `diff` compares them with it, `export` writes it, `apply` makes the
 * gateway match it.
 */
import type { Command } from 'commander';
import type { FileOptions } from '../configuration/run-file.ts';
import { apiOf, shown, type ApiOptions } from '../gateway/api-command.ts';

const SECRETS = `
Secrets stand in the file as \${env:NAME} or \${file:PATH}; their values are sent
to the gateway and shown nowhere.`;

const APPLY_HELP = `
The plan is made first. Where the file has a mistake, names a secret that is not
there or a name that is in use, each is told with its line and nothing is done.
What the file made is marked as its own: --prune deletes what is no longer in
it, and nothing that people or another file made.
${SECRETS}

Examples:
  portico apply -f portico.yaml --dry-run
  portico apply -f portico.yaml --prune
  portico export > portico.yaml && portico apply -f portico.yaml --adopt`;

const DIFF_HELP = `
Exit code 0 where the gateway is what the file says, 1 where it is not, 2 where
the file is not right.

Examples:
  portico diff -f portico.yaml
  portico diff -f portico.yaml --prune --json | jq '.changes[].key'`;

const EXPORT_HELP = `
All records of the kinds that a file can hold, ready for portico apply. A value
of a credential is never shown: where one was given to a server without a
secret, it is left out and said so.
${SECRETS}

Examples:
  portico export > portico.yaml
  portico export --json | jq .servers`;

/** Adds `apply`, `diff` and `export`. */
export function addApply(program: Command): void {
  const apply = ofFile(program.command('apply'), APPLY_HELP)
    .summary('make a gateway what a file says')
    .description('Make the records of a gateway what a file says.')
    .option('--dry-run', 'show what would be done, and do nothing');
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
    .option('--prune', 'delete what the file made and no longer has')
    .option('--adopt', 'take over records of others that the file names')
    .addHelpText('after', help);
