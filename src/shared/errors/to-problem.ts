/** Errors as `application/problem+json` (RFC 9457), for REST. */
import type { PorticoError } from './portico-error.ts';

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  errors?: { field: string; message: string }[];
  server?: unknown;
  connect_url?: unknown;
}

/** Project an error to a problem document. */
export function toProblem(error: PorticoError): Problem {
  const { fields, data } = error.extras;
  return {
    type: 'about:blank',
    title: error.entry.title,
    status: error.entry.status,
    code: error.code,
    detail: error.message,
    ...(fields ? { errors: fields } : {}),
    ...(data?.['server'] ? { server: data['server'] } : {}),
    ...(data?.['connect_url'] ? { connect_url: data['connect_url'] } : {}),
  };
}

/** Project an error to a response with the problem as its body. */
export function toProblemResponse(error: PorticoError): Response {
  return new Response(JSON.stringify(toProblem(error)), {
    status: error.entry.status,
    headers: { 'content-type': 'application/problem+json', ...toErrorHeaders(error) },
  });
}

/** The header in which the scopes that would do come to who writes the challenge (`oauth/challenge.ts`); no client sees it. */
export const SCOPE_HEADER = 'portico-scope';

/** Headers an error brings along: the scopes that are missing, `Retry-After`. */
export function toErrorHeaders(error: PorticoError): Record<string, string> {
  const headers: Record<string, string> = {};
  const { scopes } = error.extras;
  if (scopes) headers[SCOPE_HEADER] = scopes.join(' ');
  if (error.extras.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(error.extras.retryAfterSeconds);
  }
  return headers;
}
