/** What reading, editing and deleting one record has in common, whatever its kind: method, problems, the headers of an edit. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import type { ErrorCode } from '../shared/errors/table.ts';
import { ifMatchHeader } from './etag.ts';
import { ACT_ERRORS, bodyOf, BODY_ERRORS, ETAG, responsesOf, type needs } from './frame.ts';

/** A record in the path, by its id. */
export const idOf = (what: string, maxChars = 100) =>
  z.object({
    id: z
      .string()
      .max(maxChars)
      .meta({ description: `Id of the ${what}` }),
  });

/** What one route says of itself. */
interface Told<P extends string, I extends z.ZodObject> extends ReturnType<typeof needs> {
  path: P;
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  params: I;
}

/** What it answers. */
interface Shown<S extends z.ZodType> {
  description: string;
  schema: S;
  example: unknown;
}

/** GET of one record. @param isEdited it has an ETag */
export function getRoute<P extends string, I extends z.ZodObject, S extends z.ZodType>(
  { params, ...told }: Told<P, I>,
  { description, schema, example }: Shown<S>,
  isEdited = true,
) {
  const errors = ['forbidden', 'not_found', 'validation_failed'] as const;
  const headers = isEdited ? { headers: ETAG } : {};
  const responses = responsesOf(200, description, schema, { errors, ...headers, example });
  return createRoute({ method: 'get', ...told, request: { params }, responses });
}

/**
 * PATCH of one record over the revision that was read.
 * @param patch what may be sent, with an example
 * @param problems codes beside those of every edit
 */
export function updateRoute<
  P extends string,
  I extends z.ZodObject,
  B extends z.ZodType,
  S extends z.ZodType,
>(
  { params, ...told }: Told<P, I>,
  patch: { schema: B; example: unknown },
  { description, schema, example }: Shown<S>,
  problems: readonly ErrorCode[] = [],
) {
  const errors: ErrorCode[] = [
    ...ACT_ERRORS,
    ...BODY_ERRORS,
    'not_found',
    ...problems,
    'precondition_failed',
  ];
  const body = bodyOf(patch.schema, patch.example);
  return createRoute({
    method: 'patch',
    ...told,
    request: { params, headers: ifMatchHeader, body },
    responses: responsesOf(200, description, schema, { errors, headers: ETAG, example }),
  });
}

/** DELETE of one record. */
export function deleteRoute<P extends string, I extends z.ZodObject>(
  { params, ...told }: Told<P, I>,
  answer = 'Deleted',
) {
  const errors = [...ACT_ERRORS, 'not_found', 'validation_failed'] as const;
  const responses = responsesOf(204, answer, undefined, { errors });
  return createRoute({ method: 'delete', ...told, request: { params }, responses });
}
