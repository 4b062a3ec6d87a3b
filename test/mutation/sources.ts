/** Loads the sources to mutate, each with all its mutants in it. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { EQUAL } from './equal.ts';
import { mutate, type Mutant } from './mutate.ts';

/** The default: code whose faults could let an attacker in. */
const USUAL = [
  'src/access',
  'src/gateway',
  'src/http/address-policy.ts',
  'src/http/guarded-fetch.ts',
  'src/audit',
  'src/mcp/admit.ts',
];

export interface Loaded {
  /** The mutated code of each file, by its path. */
  codes: Map<string, string>;
  mutants: Mutant[];
  /** How many mutants were left out because they are equivalent. */
  equal: number;
  /** Entries of the list of equivalent mutants that match no code any more. */
  stale: string[];
}

/** Identifies a mutant across runs, without its line, since lines move. */
export const titleOf = ({ file, from, to }: Omit<Mutant, 'id' | 'line'>) =>
  `${relative('.', file)}: ${from} → ${to}`;

function sourcesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [resolve(path)];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return names.filter(name => name.endsWith('.ts')).map(name => resolve(join(path, name)));
}

/** @param paths files and folders; if empty, the default ones */
export function loadSources(paths: readonly string[]): Loaded {
  const codes = new Map<string, string>();
  const made: Mutant[] = [];
  for (const file of (paths.length > 0 ? paths : USUAL).flatMap(sourcesOf).toSorted()) {
    const { code, mutants } = mutate(file, readFileSync(file, 'utf8'), made.length + 1);
    codes.set(file, code);
    made.push(...mutants);
  }
  const equal = new Set(EQUAL.map(titleOf));
  const titles = new Set(made.map(titleOf));
  const stale = EQUAL.filter(({ file }) => codes.has(resolve(file))).map(titleOf);
  const mutants = made.filter(mutant => !equal.has(titleOf(mutant)));
  return {
    codes,
    mutants,
    equal: made.length - mutants.length,
    stale: stale.filter(title => !titles.has(title)),
  };
}
