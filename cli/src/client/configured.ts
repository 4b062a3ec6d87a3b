/** Reads one server in the configuration of a host, and adds or removes it, in either format. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { toTomlTable, type HostEntry } from '../../../src/servers/transfer/host-entry.ts';
import { withoutSecretForms } from '../../../src/shared/redaction/secret-patterns.ts';
import { readJsonMember, withJsonMember, withoutJsonMember } from './json-text.ts';
import { readTomlTable, withoutTomlTable, withTomlTable } from './toml-text.ts';

/** A server in a configuration. */
export interface Configured {
  /** The entry's text in lines; it may hold secrets. */
  lines: string[];
  /** The same without secrets. */
  shown: string[];
  url: string | undefined;
  token: string | undefined;
}

type Entry = Record<string, unknown>;

/** Returns the server of a name; undefined where the text has none. @throws NotEditable */
export function readServer(host: HostEntry, text: string, name: string): Configured | undefined {
  const { format, servers } = host;
  const written =
    format === 'toml'
      ? readTomlTable(text, servers, name)?.replaceAll('\r\n', '\n')
      : jsonLines(name, readJsonMember(text, servers, name));
  if (written === undefined) return undefined;
  const found = configured(written);
  const { url = '', token = '' } = found;
  const ours = toConfigured(host, name, host.toEntry(url, `Bearer ${token}`));
  // If somebody else wrote the entry, other values than the token may be secret too.
  return isSame(found, ours)
    ? found
    : { ...found, shown: found.lines.map(line => withoutSecretForms(line)) };
}

/** Returns the entry that a host is given, in the same form. */
export const toConfigured = (host: HostEntry, name: string, entry: Entry): Configured =>
  configured(
    host.format === 'toml'
      ? toTomlTable([host.servers, name], entry)
      : (jsonLines(name, entry) ?? ''),
  );

/** Returns the text with the server. @throws NotEditable */
export function withServer(host: HostEntry, text: string, name: string, entry: Entry): string {
  const edit = host.format === 'toml' ? withTomlTable : withJsonMember;
  return edit(text, host.servers, name, entry);
}

/** Returns the text without the server. @throws NotEditable */
export function withoutServer(host: HostEntry, text: string, name: string): string {
  const edit = host.format === 'toml' ? withoutTomlTable : withoutJsonMember;
  return edit(text, host.servers, name);
}

export const isSame = (one: Configured, other: Configured): boolean =>
  isDeepStrictEqual(one.lines, other.lines);

/** Returns a diff of a server's entry, each line with its sign, without secrets. */
export function changesOf(before: Configured | undefined, after: Configured | undefined): string[] {
  const [old = [], fresh = []] = [before?.lines, after?.lines];
  const shortest = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shortest && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < shortest - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const signed = (sign: string, { shown }: Configured, from: number, to: number) =>
    shown.slice(from, to).map(line => `${sign} ${line}`);
  return [
    ...(before ? signed(' ', before, 0, start) : []),
    ...(before ? signed('-', before, start, old.length - end) : []),
    ...(after ? signed('+', after, start, fresh.length - end) : []),
    ...(before ? signed(' ', before, old.length - end, old.length) : []),
  ];
}

const jsonLines = (name: string, entry: unknown): string | undefined =>
  entry === undefined ? undefined : `${JSON.stringify(name)}: ${JSON.stringify(entry, null, 2)}`;

function configured(written: string): Configured {
  const lines = written.trimEnd().split('\n');
  return {
    lines,
    shown: lines.map(line => line.replaceAll(/Bearer [^"'\s]+/g, 'Bearer …')),
    url: /https?:\/\/[^"'\s]+/.exec(written)?.[0],
    token: /Bearer ([^"'\s]+)/.exec(written)?.[1],
  };
}
