/**
 * Reads what `wrangler.toml` says about the Worker, so that the local host has the same bindings as a deployment. Supports the part of TOML
 * that the file uses: tables, arrays of tables, strings, numbers, booleans, lists of strings. Any other line is refused with its number;
 * nothing is guessed.
 */

export interface WorkerConfig {
  compatibilityDate: string;
  compatibilityFlags: string[];
  /** D1 bindings, each with the name of its database. */
  databases: Record<string, string>;
  /** Names of the KV bindings. */
  namespaces: string[];
  /** Name of the binding of static files. */
  assets: string;
  /** Durable Object bindings, each with its class. */
  objects: Record<string, { className: string; useSQLite: boolean }>;
}

type TomlValue = string | number | boolean | string[];
type TomlTable = Record<string, TomlValue>;

/**
 * Parses the text of `wrangler.toml`.
 * @throws Error that names the line, or the missing setting
 */
export function parseWorkerConfig(text: string): WorkerConfig {
  const { top, tables } = parseToml(text);
  const rows = (name: string): TomlTable[] => tables.get(name) ?? [];
  const sqliteClasses = rows('migrations').flatMap(row => toList(row['new_sqlite_classes']));
  return {
    compatibilityDate: toText(top, 'compatibility_date'),
    compatibilityFlags: toList(top['compatibility_flags']),
    databases: Object.fromEntries(
      rows('d1_databases').map(row => [toText(row, 'binding'), toText(row, 'database_name')]),
    ),
    namespaces: rows('kv_namespaces').map(row => toText(row, 'binding')),
    assets: toText(rows('assets')[0] ?? {}, 'binding'),
    objects: Object.fromEntries(
      rows('durable_objects.bindings').map(row => {
        const className = toText(row, 'class_name');
        return [toText(row, 'name'), { className, useSQLite: sqliteClasses.includes(className) }];
      }),
    ),
  };
}

function parseToml(text: string): { top: TomlTable; tables: Map<string, TomlTable[]> } {
  const top: TomlTable = {};
  const tables = new Map<string, TomlTable[]>();
  let current = top;
  text.split(/\r?\n/).forEach((line, index) => {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) return;
    const header = /^\[{1,2}([\w.-]+)\]{1,2}$/.exec(content)?.[1];
    if (header !== undefined) {
      current = {};
      tables.set(header, [...(tables.get(header) ?? []), current]);
      return;
    }
    const [, key, value] = /^([\w-]+)\s*=\s*(.+)$/.exec(content) ?? [];
    const parsed = value === undefined ? undefined : parseValue(value);
    if (key === undefined || parsed === undefined) {
      throw new Error(`wrangler.toml, line ${index + 1}, cannot be read: ${content}`);
    }
    current[key] = parsed;
  });
  return { top, tables };
}

/** Parses the value of a line, which a comment may follow. All supported forms are JSON too. */
function parseValue(text: string): TomlValue | undefined {
  const literal = /^("[^"\\]*"|\[[^\]]*\]|true|false|-?\d+(?:\.\d+)?)\s*(?:#.*)?$/.exec(text)?.[1];
  if (literal === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(literal);
    if (Array.isArray(value))
      return value.every(item => typeof item === 'string') ? value : undefined;
    return value as string | number | boolean;
  } catch {
    return undefined;
  }
}

function toText(table: TomlTable, key: string): string {
  const value = table[key];
  if (typeof value !== 'string') throw new Error(`wrangler.toml has no text for ${key}`);
  return value;
}

function toList(value: TomlValue | undefined): string[] {
  return Array.isArray(value) ? value : [];
}
