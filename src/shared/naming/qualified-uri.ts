/**
 * Qualified resource URIs on an endpoint of many servers: `{server}+{uri}`, reversible without a look-up
 * (`github+file:///x`). `ui://` URIs keep their scheme, which hosts look for, and carry the server as authority:
 * `ui://{server}/{rest}`. Pure.
 *
 * A scheme consists of letters, digits, `+`, `-` and `.` and starts with a letter, so `_` in a server's name is written
 * `.5f` and a leading digit `d.3N`; a name itself never contains a dot.
 */

const UI = 'ui://';

/** Writes a server's name as the start of a scheme. */
function toSchemePart(server: string): string {
  const escaped = server.replaceAll('_', '.5f');
  return /^[0-9]/.test(escaped) ? `d.${hex(escaped)}${escaped.slice(1)}` : escaped;
}

const hex = (text: string) => text.charCodeAt(0).toString(16);

function fromSchemePart(part: string): string {
  const digit = /^d\.3([0-9])/.exec(part)?.[1];
  const rest = digit === undefined ? part : digit + part.slice('d.3N'.length);
  return rest.replaceAll(/\.5f/gi, '_');
}

/** Returns the URI (or URI template) under which a server's resource is presented. */
export function toQualifiedUri(server: string, uri: string): string {
  return uri.startsWith(UI)
    ? `${UI}${server}/${uri.slice(UI.length)}`
    : `${toSchemePart(server)}+${uri}`;
}

/** @returns the server's name and its own URI, or undefined if the URI names no server */
export function parseQualifiedUri(uri: string): { server: string; uri: string } | undefined {
  if (uri.startsWith(UI)) {
    const slash = uri.indexOf('/', UI.length);
    if (slash <= UI.length) return undefined;
    return { server: uri.slice(UI.length, slash), uri: `${UI}${uri.slice(slash + 1)}` };
  }
  const plus = uri.indexOf('+');
  if (plus < 1 || /[:/]/.test(uri.slice(0, plus))) return undefined;
  return { server: fromSchemePart(uri.slice(0, plus)), uri: uri.slice(plus + 1) };
}
