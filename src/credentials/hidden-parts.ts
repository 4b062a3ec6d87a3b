/**
 * The parts of a credential that must be redacted: values of secrets, headers without their scheme, names and passwords of Basic, cookies,
 * the parts of a signed token. Pure. Headers that hold no credential, such as a version or a media type, are left out, since their values
 * also appear in results.
 */

/** Header names that suggest a credential. */
const SECRET_HEADER = /auth|token|key|secret|cookie|passw|credential|session|signature/;
const PLAIN_HEADERS = new Set([
  'user-agent',
  'cache-control',
  'host',
  'origin',
  'referer',
  'prefer',
]);
const PLAIN_BEGINNINGS = ['accept', 'content-', 'mcp-', 'x-forwarded-'];
const SCHEME = /^(?:bearer|basic|token|apikey|api-key|bot|digest|negotiate) +(?=\S)/i;
/** A word, a short number or a version: never a random value. */
const PLAIN_WORD = /^(?:[A-Z]?[a-z]{0,15}|[A-Z]{1,15}|v?\d{1,4})$/;
/** Shorter parts of a signed token are not secret by themselves. */
const MIN_PART_CHARS = 16;

/** Lists the hidden parts of headers, given by name in lower case. */
export function hiddenInHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    isPlain(name, value) ? [] : hiddenInHeader(name, value),
  );
}

function hiddenInHeader(name: string, value: string): string[] {
  const scheme = SCHEME.exec(value)?.[0] ?? '';
  const sent = value.slice(scheme.length).trim();
  if (scheme.trim().toLowerCase() === 'basic') return [sent, ...hiddenInBasic(sent)];
  return [...hiddenInToken(sent), ...(name === 'cookie' ? hiddenInCookies(sent) : [])];
}

/** Lists a token and, if it is signed, its payload and signature. */
export function hiddenInToken(token: string): string[] {
  const [, ...parts] = token.startsWith('eyJ') ? token.split('.') : [];
  return [token, ...parts.filter(part => part.length >= MIN_PART_CHARS)];
}

/** Lists a client's secret, and the forms in which the client sends it with its id. */
export function hiddenInClient(id: string, secret: string): string[] {
  const inForm = (text: string) =>
    encodeURIComponent(text)
      .replaceAll(/[-_.!~*'()]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%20', '+');
  return [secret, inForm(secret), `${id}:${secret}`, `${inForm(id)}:${inForm(secret)}`];
}

/** Lists name and password as servers read them: as UTF-8, or one character for each byte (RFC 7617 §2.1). */
function hiddenInBasic(sent: string): string[] {
  try {
    const plain = atob(sent);
    const bytes = Uint8Array.from(plain, character => character.charCodeAt(0));
    const pairs = new Set([new TextDecoder().decode(bytes), plain]);
    return [...pairs].flatMap(pair => [pair, pair.slice(pair.indexOf(':') + 1)]);
  } catch {
    return [];
  }
}

const hiddenInCookies = (sent: string): string[] =>
  sent.split(';').map(cookie => cookie.slice(cookie.indexOf('=') + 1).trim());

function isPlain(name: string, value: string): boolean {
  if (SECRET_HEADER.test(name) || SCHEME.test(value)) return false;
  if (PLAIN_HEADERS.has(name) || name.endsWith('-version')) return true;
  if (PLAIN_BEGINNINGS.some(beginning => name.startsWith(beginning))) return true;
  return value.split(/[^A-Za-z0-9]+/).every(word => PLAIN_WORD.test(word));
}
