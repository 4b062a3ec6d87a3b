/** Writes a gateway as a file for `portico apply`: records under their keys, values of secrets as references. Pure. */
import { Document } from 'yaml';
import { ConfigurationSchema, SCHEMA_PATH } from '../../../src/api/configuration-file.ts';
import { checkReferences, NOTHING } from './check-references.ts';
import { canonical, type Content, type Known } from './content.ts';
import { KINDS, type Kind } from './kinds.ts';
import { createNames } from './names.ts';

export interface Exported {
  text: string;
  /** What could not be written, and why. */
  leftOut: string[];
}

type Sections = Record<string, Record<string, Content>>;

const MAX_KEY_CHARS = 60;
const NO_NAMES = createNames({}, { servers: [], connectors: [], principals: [] });

/** @param owner whose records keep their keys @param origin of the gateway, where editors find the schema */
export function exportFile(known: readonly Known[], owner: string, origin: string): Exported {
  const leftOut: string[] = [];
  const sections: Sections = {};
  /** The file's keys of principals by id; other records refer to a principal by its key. */
  const keyOf = new Map<string, string>();
  for (const kind of KINDS) {
    const ofKind = known.filter(record => record.kind === kind.kind);
    const all = keyed(ofKind, owner);
    if (kind.kind === 'principal') for (const [key, { id }] of all) keyOf.set(id, key);
    const records = all.map(([key, { content }]): [string, Content] => [
      key,
      toRecord(kind, key, withKeys(content, keyOf), leftOut),
    ]);
    if (records.length === 0) continue;
    sections[kind.section] = Object.fromEntries(records.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
  leaveOutBroken(sections, leftOut);
  const document = new Document({ owner, ...sections });
  document.commentBefore = ` yaml-language-server: $schema=${origin}${SCHEMA_PATH}`;
  return { text: document.toString({ lineWidth: 100 }), leftOut };
}

/** Gives each record a key: its own key, else its name, else one made from its content. */
function keyed(records: readonly Known[], owner: string): [string, Known][] {
  const isOwn = ({ owner: mark }: Known) => mark?.owner === owner;
  const used = new Map<string, Known>();
  for (const record of records.filter(isOwn)) used.set(record.owner?.key ?? '', record);
  for (const record of records.filter(each => !isOwn(each)).toReversed()) {
    const { name } = record.content;
    const wanted = typeof name === 'string' ? name : toKey(record.content);
    let key = wanted;
    for (let next = 2; used.has(key); next += 1) key = `${wanted}-${next}`;
    used.set(key, record);
  }
  return [...used];
}

function withKeys(content: Content, keyOf: ReadonlyMap<string, string>): Content {
  const copy = structuredClone(content);
  const { subject, members } = copy as {
    subject?: { name?: string };
    members?: { principals: string[] };
  };
  if (subject?.name !== undefined) subject.name = keyOf.get(subject.name) ?? subject.name;
  if (members) members.principals = members.principals.map(name => keyOf.get(name) ?? name);
  return copy;
}

/** Makes a key such as `deny-interns-github-delete` from a rule, so that people can tell rules apart. */
function toKey({ effect, subject, server, tool }: Content): string {
  const { name = 'everyone' } = (subject ?? {}) as { name?: string };
  const parts = [effect, subject === undefined ? undefined : name, server, tool];
  const text = parts
    .filter(part => typeof part === 'string' && part !== '*')
    .join('-')
    .replaceAll(/[^A-Za-z0-9]+/g, '-');
  return text.slice(0, MAX_KEY_CHARS).replace(/^-/, '').replace(/-$/, '') || 'rule';
}

/** The record as written in a file, without members that equal their defaults. */
function toRecord(kind: Kind, key: string, content: Content, leftOut: string[]): Content {
  const { name, ...record } = content;
  if (kind.kind === 'principal' && name !== key) record['name'] = name;
  if (kind.kind === 'secret') record['value'] = `\${env:${key}}`;
  if (kind.kind === 'server') dropValues(key, record, leftOut);
  const whole = said(kind, key, record);
  for (const member of Object.keys(record)) {
    const { [member]: _, ...rest } = record;
    if (whole !== undefined && said(kind, key, rest) === whole) delete record[member];
  }
  return record;
}

/** The meaning of a file's record as canonical text; undefined where it is invalid. */
function said(kind: Kind, key: string, record: Content): string | undefined {
  const parsed = ConfigurationSchema.safeParse({ [kind.section]: { [key]: record } });
  const read = parsed.data?.[kind.section]?.[key];
  return read && canonical(kind.ofFile(key, read as never, NO_NAMES));
}

/** The API never shows headers and auth given as values, so they cannot be exported. */
function dropValues(key: string, record: Content, leftOut: string[]): void {
  const config = record['connection_config'] as Content;
  const headers = (config['headers'] ?? {}) as Content;
  for (const name of Object.keys(headers).filter(each => headers[each] === null)) {
    delete headers[name];
    leftOut.push(`servers.${key}: the header ${name}, which was given as a value`);
  }
  if (Object.keys(headers).length === 0) delete config['headers'];
  const auth = config['auth'] as Content | undefined;
  if (!auth || !Object.values(auth).includes(null)) return;
  delete config['auth'];
  leftOut.push(`servers.${key}: its auth, which was given as a value`);
}

/** Leaves out records that refer to missing ones, and then those that refer to them. */
function leaveOutBroken(sections: Sections, leftOut: string[]): void {
  for (;;) {
    const parsed = ConfigurationSchema.safeParse(sections);
    const problems = parsed.success
      ? checkReferences(parsed.data, NOTHING)
      : parsed.error.issues.map(({ path, message }) => ({ path, message }));
    const places = problems.filter(({ path: [section, key] }) => {
      const records = sections[String(section)];
      return records !== undefined && Object.hasOwn(records, String(key));
    });
    if (places.length === 0) return;
    for (const { path, message } of places) {
      const [section = '', key = ''] = path.map(String);
      if (!sections[section]?.[key]) continue;
      delete sections[section][key];
      leftOut.push(`${section}.${key}: ${message}`);
    }
  }
}
