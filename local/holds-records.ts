/** Whether the database of a data folder has records that only its keys open, read before a gateway uses it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Tables of which a gateway in use has a row in one at least. */
const TABLES = ['tokens', 'principals', 'servers', 'secrets', 'connectors', 'webhooks'];

/** False if there is no database, or if it cannot be read: then the start itself says why. */
export function holdsRecords(folder: string): boolean {
  try {
    const entries = readdirSync(join(folder, 'storage', 'd1'), {
      recursive: true,
      withFileTypes: true,
    });
    return entries
      .filter(({ name }) => name.endsWith('.sqlite'))
      .some(({ parentPath, name }) => hasRecord(join(parentPath, name)));
  } catch {
    return false;
  }
}

function hasRecord(file: string): boolean {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const isThere = database.prepare(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
    );
    return TABLES.some(
      table =>
        isThere.get(table) !== undefined &&
        database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined,
    );
  } finally {
    database.close();
  }
}
