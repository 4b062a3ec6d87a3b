/** The one form in which the file's records and the gateway's are compared, and their differences. Pure. */
import type { OwnedKind } from '../../../src/shared/identity/record-owner.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json | undefined };

/** The members of a record, with names instead of ids; a member that has the deployment's default is absent. */
export type Content = { [member: string]: Json | undefined };

/** A record in the file. */
export interface Wanted {
  kind: OwnedKind;
  key: string;
  content: Content;
}

/** A record at the gateway. */
export interface Known {
  kind: OwnedKind;
  id: string;
  content: Content;
  /** Absent for kinds without revisions. */
  revision?: number;
  /** Absent where the record belongs to people. */
  owner?: { owner: string; key: string };
}

export interface Difference {
  /** Path of the member, like `connection_config.url`. */
  field: string;
  before?: Json;
  after?: Json;
}

/** JSON text that is equal for equal values, whatever the order of members. */
export function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

const isObject = (value: Json | undefined): value is Content =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lists differing members; where both values are objects, those inside them. */
export function differencesOf(before: Content, after: Content, path = ''): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name): Difference[] => {
    const [was, is] = [before[name], after[name]];
    const field = path === '' ? name : `${path}.${name}`;
    if (isObject(was) && isObject(is)) return differencesOf(was, is, field);
    if (
      canonical(was ?? null) === canonical(is ?? null) &&
      (was === undefined) === (is === undefined)
    )
      return [];
    return [
      {
        field,
        ...(was === undefined ? {} : { before: was }),
        ...(is === undefined ? {} : { after: is }),
      },
    ];
  });
}

/** Drops members that are undefined or null. */
export function compact(content: Content): Content {
  const kept = Object.entries(content).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(kept);
}
