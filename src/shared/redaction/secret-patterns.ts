/**
 * Recognises secrets by the name they stand under and by their own form. Pure. It errs on the side of hiding. It never
 * decides that a text is harmless; it only removes what it recognises.
 *
 * Invariant: the work is linear in the length of the text, whatever the text is. Each expression here begins where the
 * last one ended, or ends after a bounded number of characters.
 */

export const REDACTED = '[redacted]';

/** Parts of names, in any casing and with any separators, that mark the value as a secret. */
const SECRET_NAMES =
  /passw(?:or)?d|passphrase|passcode|pwd|secret|token|apikey|accesskey|privatekey|signingkey|encryptionkey|sshkey|authorization|credential|cookie|bearer|jwt|sessionid|signature|connectionstring/;
/** Names that mark a secret only as a whole. */
const SECRET_WORDS = new Set(['auth', 'pass', 'pin', 'otp', 'mfa', 'cvv', 'cvc']);
/** Names of counts, which contain a word for secrets but hold none. */
const COUNTS = /tokens$/;

/** Known forms of tokens; then what follows an authentication scheme. */
const SECRET_VALUES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bportico_[A-Za-z0-9_-]{20,}/g,
  /\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{16,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\bxox[a-z]-[A-Za-z0-9-]{8,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bya29\.[A-Za-z0-9_-]{16,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
];
const SCHEMES = /\b(bearer|basic)\s{1,8}[A-Za-z0-9._~+/=-]{6,}/gi;
/** The first part of a JSON Web Token, with every character that could belong to it. */
const JWT_HEAD = /\beyJ[A-Za-z0-9_-]*/g;
const JWT_REST = /\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/y;
const MIN_JWT_HEAD_CHARS = 7;
/** Characters of names, and how many of a name's last characters are read. */
const NAME_RUN = /[\w.-]+/g;
const MAX_NAME_CHARS = 64;
/** What stands between a name and its value: as in URLs, headers, JSON and commands. */
const SEPARATOR = /\\*["']?\s*[=:]\s*\\*/y;
const SPACES = /\s+/y;
/** An unclosed quote, as in JSON that breaks off, hides everything after it. */
const VALUE = /"[^"]*"?|'[^']*'?|[^\s&;,"'#{}[\]]+/y;
/** User name and password of a URL. */
const USERINFO = /([a-z0-9+.-]:\/\/)[^\s/?#]+@/gi;
/**
 * Quick test: a text that contains anything of the above contains one of these, or the name of an option before a
 * space. Most contain neither.
 */
const MAY_HOLD =
  /[=:@]|-----BEGIN|portico_|gh[pousr]_|github_pat_|glpat-|[spr]k[-_]|A[KS]IA|xox|AIza|ya29|npm_|hf_|eyJ|bearer|basic/i;
/** How many characters after the kept part are read, so that a secret that begins in the kept part is recognised. */
const AHEAD_CHARS = 4_096;

/** Whether the value under a name is a secret. @param mayCount whether it may be a count, as in `max_tokens` */
export function isSecretName(name: string, mayCount = true): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '');
  if (SECRET_WORDS.has(plain)) return true;
  return SECRET_NAMES.test(plain) && !(mayCount && COUNTS.test(plain));
}

/**
 * Returns the beginning of a text without secret forms; the rest is not read.
 * @param maxChars in UTF-16 units
 */
export function beginningWithoutSecrets(text: string, maxChars: number): string {
  const most = maxChars + AHEAD_CHARS;
  const read = text.length > most ? text.slice(0, most) : text;
  return withoutSecretForms(read, read.length < text.length).slice(0, maxChars);
}

/**
 * Returns a text without secret forms.
 * @param isCut the text goes on: the beginning of a token at its end counts as a token
 */
export function withoutSecretForms(text: string, isCut = false): string {
  if (!MAY_HOLD.test(text) && !(text.includes('-') && /\s/.test(text))) return text;
  let safe = text.replaceAll(SCHEMES, `$1 ${REDACTED}`).replaceAll(USERINFO, `$1${REDACTED}@`);
  for (const pattern of SECRET_VALUES) safe = safe.replaceAll(pattern, REDACTED);
  return withoutNamed(withoutJwt(safe, isCut));
}

/** Removes JSON Web Tokens. A head without a rest is none, and nothing that begins inside it is either: the search continues after it. */
function withoutJwt(text: string, isCut: boolean): string {
  let safe = '';
  let from = 0;
  for (const { 0: head, index } of text.matchAll(JWT_HEAD)) {
    const end = index + head.length;
    if (index < from || head.length < MIN_JWT_HEAD_CHARS) continue;
    const rest = matchAt(JWT_REST, text, end);
    if (rest === undefined && !(isCut && end === text.length)) continue;
    safe += text.slice(from, index) + REDACTED;
    from = end + (rest ?? '').length;
  }
  return safe + text.slice(from);
}

/** Returns a text without the values that follow a secret's name. */
function withoutNamed(text: string): string {
  let safe = '';
  let from = 0;
  for (const { 0: run, index } of text.matchAll(NAME_RUN)) {
    if (index < from) continue;
    const name = run.slice(-MAX_NAME_CHARS);
    const end = index + run.length;
    // `--password value`: an option of a command precedes its value without a sign.
    const isOption = name.slice(0, -1).includes('-');
    const between =
      matchAt(SEPARATOR, text, end) ?? (isOption ? matchAt(SPACES, text, end) : undefined);
    if (between === undefined || !isSecretName(name.replace(/^[^A-Za-z]+/, ''))) continue;
    const value = matchAt(VALUE, text, end + between.length);
    if (value === undefined) continue;
    safe += text.slice(from, end + between.length) + REDACTED;
    from = end + between.length + value.length;
  }
  return safe + text.slice(from);
}

/** Returns what a sticky expression matches at a position. */
function matchAt(sticky: RegExp, text: string, at: number): string | undefined {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0];
}
