/**
 * What a migration may do while the last release runs on its schema: only add. Pure: names and texts in, findings out. Anything else
 * belongs in a contraction, which removes what an earlier release replaced (docs/decisions/0043-one-version-apart.md).
 */
import { CONTRACTION, splitStatements } from '../../../local/migrations.ts';

const NAME = '["`[]?(\\w+)["`\\]]?';
const CREATE_TABLE = new RegExp(`^CREATE TABLE (?:IF NOT EXISTS )?${NAME}`, 'i');
const CREATE_INDEX = new RegExp(
  `^CREATE (UNIQUE )?INDEX (?:IF NOT EXISTS )?${NAME} ON ${NAME}`,
  'i',
);
const CREATE_TRIGGER = new RegExp(
  `^CREATE TRIGGER (?:IF NOT EXISTS )?${NAME} [\\w ,]*? ON ${NAME}`,
  'i',
);
const ADD_COLUMN = new RegExp(`^ALTER TABLE ${NAME} ADD (?:COLUMN )?${NAME}(.*)$`, 'i');
const INSERT = new RegExp(`^INSERT INTO ${NAME} `, 'i');
const UPDATE = new RegExp(`^UPDATE ${NAME} SET (.*?)(?: WHERE .*)?$`, 'i');
const DROP = new RegExp(`^DROP (?:TRIGGER|INDEX) (?:IF EXISTS )?${NAME}$`, 'i');

/** A statement on one line, without comments. */
const toLine = (statement: string): string =>
  statement
    .replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The statements of a migration that do more than add, shortened, with the reason. */
export function findBreaks(sql: string): string[] {
  const lines = splitStatements(sql).map(toLine);
  const created = (pattern: RegExp, at: number) =>
    lines.flatMap(line => pattern.exec(line)?.[at] ?? []);
  const tables = new Set(created(CREATE_TABLE, 1));
  const remade = new Set([...created(CREATE_INDEX, 2), ...created(CREATE_TRIGGER, 1)]);
  const columns = new Set(
    lines.flatMap(line => {
      const [, table, column] = ADD_COLUMN.exec(line) ?? [];
      return column === undefined ? [] : [`${table}.${column}`];
    }),
  );
  const judge = (line: string): string | undefined => {
    if (CREATE_TABLE.test(line)) return undefined;
    const index = CREATE_INDEX.exec(line);
    if (index)
      return index[1] && !tables.has(index[3] ?? '') ? 'constrains what is there' : undefined;
    const trigger = CREATE_TRIGGER.exec(line);
    if (trigger) {
      const refuses = /\bRAISE\s*\(/i.test(line) && !tables.has(trigger[2] ?? '');
      return refuses ? 'constrains what is there' : undefined;
    }
    const added = ADD_COLUMN.exec(line);
    if (added) {
      const [, , , rest = ''] = added;
      const isNeeded = /\bNOT NULL\b/i.test(rest) && !/\bDEFAULT\b/i.test(rest);
      return isNeeded ? 'wants what the last release does not write' : undefined;
    }
    if (INSERT.test(line)) return /\bON CONFLICT\b/i.test(line) ? 'changes rows' : undefined;
    const [, table = '', set = ''] = UPDATE.exec(line) ?? [];
    if (set !== '') {
      const targets = [...set.matchAll(/(?:^|, )(\w+) = /g)].map(([, column]) => column);
      const isOwn = targets.every(column => columns.has(`${table}.${column}`));
      return tables.has(table) || isOwn ? undefined : 'changes rows';
    }
    const dropped = DROP.exec(line)?.[1];
    if (dropped !== undefined && remade.has(dropped)) return undefined;
    return 'takes away or changes what is there';
  };
  return lines.flatMap(line => {
    const reason = judge(line);
    return reason === undefined ? [] : [`${line.slice(0, 60)}: ${reason}`];
  });
}

/**
 * The findings for a migration that the last release does not have.
 * @param released names of the migrations of the last release
 */
export function findWrong(name: string, sql: string, released: readonly string[]): string[] {
  const replacedBy = CONTRACTION.exec(name)?.[1];
  if (replacedBy === undefined) return findBreaks(sql).map(each => `${name}: ${each}`);
  const isReleased = released.some(each => each.startsWith(`${replacedBy}_`));
  return isReleased ? [] : [`${name}: ${replacedBy} is not in the last release yet`];
}
