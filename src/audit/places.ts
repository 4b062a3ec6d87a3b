/** Where in the order of subjects those of a server are: its id, and what begins with its name. Pure. */
import { toQualifiedUri } from '../shared/naming/qualified-uri.ts';
import type { AuditFilter } from './audit-schema.ts';

/** First and last subject. */
export type Place = readonly [first: string, last: string];

/** All subjects that begin with a text. */
export const toPlace = (start: string): Place => [start, `${start}\u{10FFFF}`];

/** Where subjects of servers are. */
export function toPlaces({ ids, names }: NonNullable<AuditFilter['ofServers']>): Place[] {
  const starts = names.flatMap(name => [`${name}.`, toQualifiedUri(name, ''), `ui://${name}/`]);
  return [...ids.map((id): Place => [id, id]), ...starts.map(toPlace)];
}

export const isInPlace = (subject: string, [first, last]: Place): boolean =>
  subject >= first && subject <= last;
