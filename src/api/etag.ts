/**
 * ETags of records that are edited: the revision, which counts edits and nothing else, so that a change of status
 * meanwhile does not refuse an edit (RFC 9110 §8.8.3, §13.1.1).
 */
import { z } from 'zod';
import { PorticoError } from '../shared/errors/portico-error.ts';

/** The strong validator of a revision. */
export function toETag(revision: number): string {
  return `"r${revision}"`;
}

/**
 * The revision an `If-Match` names; undefined where any will do.
 * @throws PorticoError `precondition_failed` where it names none of ours
 */
export function parseIfMatch(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const revision = /^"r(\d{1,15})"$/.exec(header.trim())?.[1];
  if (revision === undefined) {
    throw new PorticoError('precondition_failed', 'Send the ETag of the record as If-Match');
  }
  return Number(revision);
}

/** The header of a route that edits. */
export const ifMatchHeader = z.object({
  'if-match': z.string().max(100).optional().meta({
    description: 'ETag of the record that is edited; without it, whatever is there is edited',
  }),
});

/** The headers of a route that makes or replaces a record. */
export const ifStillHeaders = ifMatchHeader.extend({
  'if-none-match': z.literal('*').optional().meta({
    description: 'Only where there is none yet',
  }),
});

/**
 * The revision that what is replaced must be at, 0 where there must be none; undefined where anything may be there.
 * @throws PorticoError `precondition_failed` where the headers name no revision of ours
 */
export const parseIfStill = (headers: z.infer<typeof ifStillHeaders>): number | undefined =>
  headers['if-none-match'] === '*' ? 0 : parseIfMatch(headers['if-match']);
