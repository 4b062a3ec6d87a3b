/** What a record says, in the one form that the file and the gateway are compared in; and what differs. Pure. */
import type { OwnedKind } from '../../../src/shared/identity/record-owner.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json | undefined };

/** The members of a record, with names in place of ids; what is as the deployment has it is absent. */
export type Content = { [member: string]: Json | undefined };

/** A record that the file wants. */
export interface Wanted {
  kind: OwnedKind;
  key: string;
  content: Content;
}

/** A record of the gateway. */
export interface Known {
  kind: OwnedKind;
  id: string;
  content: Content;
  /** Absent of kinds without. */
  revision?: number;
  /** Absent where it belongs to people. */
  owner?: { owner: string; key: string };
}

export interface Difference {
  /** `connection_config.url` */
  field: string;
  before?: Json;
  after?: Json;
}

/** Text that is equal where values are, whatever the order of members. */
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

/** What differs, member by member; of two objects what differs in them. */
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

/** Without what is undefined or null. */
export function compact(content: Content): Content {
  const kept = Object.entries(content).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(kept);
}
