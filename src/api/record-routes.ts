/** What routes that read, edit or delete one record share for every kind: method, problems, and headers of an edit. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import type { ErrorCode } from '../shared/errors/table.ts';
import { ifMatchHeader } from './etag.ts';
import { ACT_ERRORS, bodyOf, BODY_ERRORS, ETAG, responsesOf, type needs } from './frame.ts';

/** Path parameter: the id of a record. */
export const idOf = (what: string, maxChars = 100) =>
  z.object({
    id: z
      .string()
      .max(maxChars)
      .meta({ description: `Id of the ${what}` }),
  });

/** What a route declares about itself. */
interface RouteFacts<P extends string, I extends z.ZodObject> extends ReturnType<typeof needs> {
  path: P;
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  params: I;
}

/** The response of a route. */
interface Shown<S extends z.ZodType> {
  description: string;
  schema: S;
  example: unknown;
}

/** Declares GET of one record. @param isEdited the record has an ETag */
export function getRoute<P extends string, I extends z.ZodObject, S extends z.ZodType>(
  { params, ...facts }: RouteFacts<P, I>,
  { description, schema, example }: Shown<S>,
  isEdited = true,
) {
  const errors = ['forbidden', 'not_found', 'validation_failed'] as const;
  const headers = isEdited ? { headers: ETAG } : {};
  const responses = responsesOf(200, description, schema, { errors, ...headers, example });
  return createRoute({ method: 'get', ...facts, request: { params }, responses });
}

/**
 * Declares PATCH of one record at the revision that was read.
 * @param patch schema of the body, with an example
 * @param problems codes besides those of every edit
 */
export function updateRoute<
  P extends string,
  I extends z.ZodObject,
  B extends z.ZodType,
  S extends z.ZodType,
>(
  { params, ...facts }: RouteFacts<P, I>,
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
    ...facts,
    request: { params, headers: ifMatchHeader, body },
    responses: responsesOf(200, description, schema, { errors, headers: ETAG, example }),
  });
}

/** Declares DELETE of one record. */
export function deleteRoute<P extends string, I extends z.ZodObject>(
  { params, ...facts }: RouteFacts<P, I>,
  answer = 'Deleted',
) {
  const errors = [...ACT_ERRORS, 'not_found', 'validation_failed'] as const;
  const responses = responsesOf(204, answer, undefined, { errors });
  return createRoute({ method: 'delete', ...facts, request: { params }, responses });
}
