/** Reads media types, whose case means nothing (RFC 9110, section 8.3.1). */

/** Returns the media type of a body in lower case, without its parameters; empty if there is none. */
export const mediaTypeOf = (headers: Headers): string =>
  (headers.get('content-type') ?? '').split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? '';

export const isEventStream = ({ headers }: Response): boolean =>
  mediaTypeOf(headers) === 'text/event-stream';
