/** Whether the database of a data folder has tokens, read before a gateway uses it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** False if there is no database, or if it cannot be read: then the start itself says why. */
export function holdsTokens(folder: string): boolean {
  try {
    const entries = readdirSync(join(folder, 'storage', 'd1'), {
      recursive: true,
      withFileTypes: true,
    });
    return entries
      .filter(({ name }) => name.endsWith('.sqlite'))
      .some(({ parentPath, name }) => hasToken(join(parentPath, name)));
  } catch {
    return false;
  }
}

function hasToken(file: string): boolean {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tokens'";
    if (!database.prepare(table).get()) return false;
    return database.prepare('SELECT 1 FROM tokens LIMIT 1').get() !== undefined;
  } finally {
    database.close();
  }
}
