/** The default taxonomy, read by running the migration that seeds it, so that it is written down only once. */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export interface Skill {
  id: string;
  name: string;
  description: string;
  examples: readonly string[];
}

const MIGRATION = new URL('../../migrations/0017_skills.sql', import.meta.url);

/** In order of id. */
export function readTaxonomy(): Skill[] {
  const database = new DatabaseSync(':memory:');
  // Only the part that creates and fills the table: the rest needs earlier migrations.
  const [seed = ''] = readFileSync(MIGRATION, 'utf8').split('-- Counts the edits of the taxonomy');
  database.exec(seed);
  const rows = database.prepare('SELECT id, name, description, examples FROM skills ORDER BY id');
  return rows.all().map(row => ({
    id: String(row['id']),
    name: String(row['name']),
    description: String(row['description']),
    examples: JSON.parse(String(row['examples'])) as string[],
  }));
}
