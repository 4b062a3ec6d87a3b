/** `portico backup` and `portico restore`: all data of a gateway on this machine, in one file. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { note, writeJson } from '../terminal.ts';

interface Options {
  data: string;
  keys?: string;
  json?: boolean;
}

const BACKUP_HELP = `
The gateway may keep running. Keep the two files apart: one holds sealed
credentials, the other, NAME.keys.json, the keys that open them.

Examples:
  portico backup portico.tar.gz
  portico backup /backups/monday.tar.gz --data /var/lib/portico`;

const RESTORE_HELP = `
The folder must be empty or missing; start the gateway with it afterwards. A
token that was revoked after the backup works again: revoke it once more.

Examples:
  portico restore portico.tar.gz --data restored
  portico restore monday.tar.gz --keys /safe/monday.keys.json --data restored`;

/** Adds `backup` and `restore`. */
export function addBackup(program: Command): void {
  program
    .command('backup <file>')
    .summary('back up a gateway on this machine to a file')
    .description('Back up the data folder of a gateway on this machine to a file.')
    .option('--data <folder>', 'the data folder', '.portico')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', BACKUP_HELP)
    .action(backup);
  program
    .command('restore <file>')
    .summary('restore a data folder from a backup')
    .description('Restore a data folder from a backup.')
    .option('--data <folder>', 'the folder to create', '.portico')
    .option('--keys <file>', 'file with the keys, if it is not beside the backup')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', RESTORE_HELP)
    .action(restoreBackup);
}

async function backup(file: string, { data, json }: Options): Promise<void> {
  const { backUp } = await import('../../../local/backup/back-up.ts');
  const path = resolve(file);
  note(`backing up ${data} …`);
  const { databases, bytes, keysFile } = await backUp(resolve(data), path);
  if (json) return writeJson({ file: path, keys_file: keysFile, databases, bytes });
  note(`backed up ${databases} databases to ${file} (${Math.ceil(bytes / 1024)} KiB)`);
  note(`the keys that open them are in ${keysFile}; keep them elsewhere`);
}

async function restoreBackup(file: string, { data, keys, json }: Options): Promise<void> {
  const { restore } = await import('../../../local/backup/restore.ts');
  const folder = resolve(data);
  const { at } = await restore(
    resolve(file),
    folder,
    keys === undefined ? undefined : resolve(keys),
  );
  if (json) return writeJson({ data: folder, at: new Date(at).toISOString() });
  note(`restored ${data} as of ${new Date(at).toISOString()}; npm start -- --data ${data}`);
}
