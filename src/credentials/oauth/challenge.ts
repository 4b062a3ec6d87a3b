/**
 * Parses `WWW-Authenticate` (RFC 9110 §11.6.1; RFC 9728 §5.1; RFC 6750 §3): where to get a token, and with which scope. Accepts what
 * servers write: parameters in any order, quoted or not, of several challenges. Pure; linear in the header's length.
 */

/** The content of a 401 or 403 challenge. */
export interface Challenge {
  /** URL of the resource's metadata (RFC 9728); not checked yet. */
  resourceMetadata?: string;
  /** Scopes, separated by one space. */
  scope?: string;
  /** `invalid_token`, `insufficient_scope` and others. */
  error?: string;
}

/** Longest header part that is parsed, in characters. */
const MAX_HEADER = 16_384;
const MAX_ADDRESS = 2_048;
const MAX_SCOPE = 4_096;
const TOKEN = /[\w!#$%&'*+.^`|~-]/;
/** Characters of scopes and error codes (RFC 6749 §3.3). */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

interface Parts {
  scheme: string;
  parameters: Map<string, string>;
}

/** @param header value of `WWW-Authenticate`, or null */
export function readChallenge(header: string | null): Challenge {
  const all = readParts((header ?? '').slice(0, MAX_HEADER));
  const bearer = all.filter(({ scheme }) => scheme === 'bearer');
  const find = (among: readonly Parts[], name: string): string | undefined =>
    among.find(({ parameters }) => parameters.has(name))?.parameters.get(name);
  // The metadata may come with any scheme; scope and error are taken from Bearer only.
  const address = find(bearer, 'resource_metadata') ?? find(all, 'resource_metadata');
  const scope = toScope(find(bearer, 'scope'));
  const error = find(bearer, 'error');
  return {
    ...(address && address.length <= MAX_ADDRESS && { resourceMetadata: address }),
    ...(scope !== undefined && { scope }),
    ...(error && error.length <= 64 && SCOPE_TOKEN.test(error) && { error }),
  };
}

/** Normalises scopes to one text; undefined if there are none, or unreasonably many. */
export function toScope(given: string | readonly unknown[] | undefined): string | undefined {
  const names = typeof given === 'string' ? given.split(/\s+/) : (given ?? []);
  const good = names.filter(
    (name): name is string => typeof name === 'string' && SCOPE_TOKEN.test(name),
  );
  const text = [...new Set(good)].join(' ');
  return text !== '' && text.length <= MAX_SCOPE ? text : undefined;
}

function readParts(header: string): Parts[] {
  const all: Parts[] = [];
  let at = 0;
  const skip = (pattern: RegExp) => {
    const from = at;
    while (at < header.length && pattern.test(header[at] ?? '')) at += 1;
    return header.slice(from, at);
  };
  while (at < header.length) {
    skip(/[\s,]/);
    const name = skip(TOKEN).toLowerCase();
    if (name === '') {
      at += 1;
      continue;
    }
    skip(/\s/);
    if (header[at] !== '=') {
      all.push({ scheme: name, parameters: new Map() });
      continue;
    }
    at += 1;
    skip(/\s/);
    let value = '';
    if (header[at] === '"') {
      at += 1;
      while (at < header.length && header[at] !== '"') {
        if (header[at] === '\\') at += 1;
        value += header[at] ?? '';
        at += 1;
      }
      at += 1;
    } else {
      value = skip(/[^\s,]/);
    }
    const parameters = all.at(-1)?.parameters;
    if (parameters && !parameters.has(name)) parameters.set(name, value);
  }
  return all;
}
