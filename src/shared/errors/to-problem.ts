/** Errors as `application/problem+json` (RFC 9457), for REST. */
import { shortened } from '../util/shortened.ts';
import type { FieldProblem, PorticoError } from './portico-error.ts';

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  errors?: FieldProblem[];
  server?: unknown;
  connect_url?: unknown;
}

/**
 * Most fields that a problem names, and most characters of each text in it: a body can be wrong in every member, and
 * members can have any name.
 */
const MAX_FIELDS = 100;
const MAX_CHARS = 1_000;

/** Projects an error to a problem document; its size is bounded whatever the client sent. */
export function toProblem(error: PorticoError): Problem {
  const { fields, data } = error.extras;
  return {
    type: 'about:blank',
    title: error.entry.title,
    status: error.entry.status,
    code: error.code,
    detail: clip(error.message),
    ...(fields ? { errors: toErrors(fields) } : {}),
    ...(data?.['server'] ? { server: data['server'] } : {}),
    ...(data?.['connect_url'] ? { connect_url: data['connect_url'] } : {}),
  };
}

function toErrors(fields: readonly FieldProblem[]): FieldProblem[] {
  const named = fields
    .slice(0, MAX_FIELDS)
    .map(({ field, message }) => ({ field: clip(field), message: clip(message) }));
  const others = fields.length - named.length;
  return others > 0 ? [...named, { field: '(others)', message: `${others} more` }] : named;
}

const clip = (text: string): string => shortened(text, MAX_CHARS);

/** Projects an error to a response with the problem as its body. */
export function toProblemResponse(error: PorticoError): Response {
  return new Response(JSON.stringify(toProblem(error)), {
    status: error.entry.status,
    headers: { 'content-type': 'application/problem+json', ...toErrorHeaders(error) },
  });
}

/** Internal header that carries the sufficient scopes to the code that writes the challenge (`oauth/challenge.ts`); no client sees it. */
export const SCOPE_HEADER = 'portico-scope';

/** Returns the headers of an error: the missing scopes, `Retry-After`. */
export function toErrorHeaders(error: PorticoError): Record<string, string> {
  const headers: Record<string, string> = {};
  const { scopes } = error.extras;
  if (scopes) headers[SCOPE_HEADER] = scopes.join(' ');
  if (error.extras.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(error.extras.retryAfterSeconds);
  }
  return headers;
}
