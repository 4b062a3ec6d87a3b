/**
 * ETags of editable records. An ETag is the revision, which counts only edits, so that a status change in between does not refuse an edit
 * (RFC 9110 §8.8.3, §13.1.1).
 */
import { z } from 'zod';
import { PorticoError } from '../shared/errors/portico-error.ts';

/** Returns the strong validator of a revision. */
export function toETag(revision: number): string {
  return `"r${revision}"`;
}

/**
 * Returns the revision that an `If-Match` names; undefined if any revision will do.
 * @throws PorticoError `precondition_failed` if it is not an ETag of this API
 */
export function parseIfMatch(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const revision = /^"r(\d{1,15})"$/.exec(header.trim())?.[1];
  if (revision === undefined) {
    throw new PorticoError('precondition_failed', 'Send the ETag of the record as If-Match');
  }
  return Number(revision);
}

/** Request headers of a route that edits a record. */
export const ifMatchHeader = z.object({
  'if-match': z.string().max(100).optional().meta({
    description: 'ETag of the record to edit; if absent, the current revision is edited',
  }),
});

/** Request headers of a route that creates or replaces a record. */
export const ifStillHeaders = ifMatchHeader.extend({
  'if-none-match': z.literal('*').optional().meta({
    description: 'Only if there is none yet',
  }),
});

/**
 * Returns the revision that the replaced record must have: 0 if there must be none, undefined if anything may be there.
 * @throws PorticoError `precondition_failed` if the headers hold no ETag of this API
 */
export const parseIfStill = (headers: z.infer<typeof ifStillHeaders>): number | undefined =>
  headers['if-none-match'] === '*' ? 0 : parseIfMatch(headers['if-match']);
