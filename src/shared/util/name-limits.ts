/** Limits on names, the same everywhere. In UTF-16 units. */

/** Longest name or id that a caller may send: of a tool, a prompt, a method, a request, a progress token. */
export const MAX_NAME_CHARS = 1_000;
/** Longest URI of a resource. */
export const MAX_URI_CHARS = 8_192;
/** How much shorter than these a server's own name or URI must be, since an endpoint puts the server's name in front. */
export const QUALIFIER_CHARS = 200;

/** Longest server name, in characters. */
export const MAX_SERVER_NAME = 63;
