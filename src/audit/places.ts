/** Ranges of subjects that belong to a server: its id, and all that begin with its name. Pure. */
import { toQualifiedUri } from '../shared/naming/qualified-uri.ts';
import type { AuditFilter } from './audit-schema.ts';

/** First and last subject of a range. */
export type Place = readonly [first: string, last: string];

/** Returns the range of all subjects that begin with a text. */
export const toPlace = (start: string): Place => [start, `${start}\u{10FFFF}`];

/** Returns the ranges of servers' subjects. */
export function toPlaces({ ids, names }: NonNullable<AuditFilter['ofServers']>): Place[] {
  const starts = names.flatMap(name => [`${name}.`, toQualifiedUri(name, ''), `ui://${name}/`]);
  return [...ids.map((id): Place => [id, id]), ...starts.map(toPlace)];
}

/** Compares no ends of ranges: in a JavaScript text some characters sort behind U+10FFFF. */
export const isInPlace = (subject: string, [first, last]: Place): boolean =>
  first === last ? subject === first : subject.startsWith(first);
