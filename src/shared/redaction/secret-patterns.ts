/**
 * What looks like a secret: by the name it stands under, and by its own form. Pure. It errs on the side of hiding.
 * Refuses: to decide that a text is harmless; it only takes out what it knows.
 *
 * Invariant: the work grows with the length of the text and no faster, whatever the text is. Each expression here begins where the
 * last one ended, or ends after a bounded number of characters.
 */

export const REDACTED = '[redacted]';

/** Parts of names, in any casing and with any separators, under which secrets stand. */
const SECRET_NAMES =
  /passw(?:or)?d|passphrase|passcode|pwd|secret|token|apikey|accesskey|privatekey|signingkey|encryptionkey|sshkey|authorization|credential|cookie|bearer|jwt|sessionid|signature|connectionstring/;
/** Names that are a secret's as a whole only. */
const SECRET_WORDS = new Set(['auth', 'pass', 'pin', 'otp', 'mfa', 'cvv', 'cvc']);
/** Names of counts, which hold a secret's word and no secret. */
const COUNTS = /tokens$/;

/** Forms of tokens that are known, and what stands behind a scheme. */
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
/** The first part of a JSON Web Token, with all that could belong to it. */
const JWT_HEAD = /\beyJ[A-Za-z0-9_-]*/g;
const JWT_REST = /\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/y;
const MIN_JWT_HEAD_CHARS = 7;
/** What names are made of, and how much of the end of one is looked at. */
const NAME_RUN = /[\w.-]+/g;
const MAX_NAME_CHARS = 64;
/** What stands between a name and its value: as in addresses, headers, JSON and commands. */
const SEPARATOR = /\\*["']?\s*[=:]\s*\\*/y;
const SPACES = /\s+/y;
/** A quote that is not closed, as in JSON that breaks off, hides all behind it. */
const VALUE = /"[^"]*"?|'[^']*'?|[^\s&;,"'#{}[\]]+/y;
/** Name and password of an address. */
const USERINFO = /([a-z0-9+.-]:\/\/)[^\s/?#]+@/gi;
/** A text in which anything of the above is found holds one of these, or the name of an option before a space. Most hold neither. */
const MAY_HOLD =
  /[=:@]|-----BEGIN|portico_|gh[pousr]_|github_pat_|glpat-|[spr]k[-_]|A[KS]IA|xox|AIza|ya29|npm_|hf_|eyJ|bearer|basic/i;
/** How much behind the part that is kept is read, so that what begins in it is known for what it is. */
const AHEAD_CHARS = 4_096;

/** Whether what stands under a name is a secret. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '');
  if (SECRET_WORDS.has(plain)) return true;
  return SECRET_NAMES.test(plain) && !COUNTS.test(plain);
}

/**
 * The beginning of a text without what has the form of a secret; the rest is not read.
 * @param maxChars in UTF-16 units
 */
export function beginningWithoutSecrets(text: string, maxChars: number): string {
  const most = maxChars + AHEAD_CHARS;
  const read = text.length > most ? text.slice(0, most) : text;
  return withoutSecretForms(read, read.length < text.length).slice(0, maxChars);
}

/**
 * A text without what has the form of a secret.
 * @param isCut the text goes on: what begins like a token at its end is one
 */
export function withoutSecretForms(text: string, isCut = false): string {
  if (!MAY_HOLD.test(text) && !(text.includes('-') && /\s/.test(text))) return text;
  let safe = text.replaceAll(SCHEMES, `$1 ${REDACTED}`).replaceAll(USERINFO, `$1${REDACTED}@`);
  for (const pattern of SECRET_VALUES) safe = safe.replaceAll(pattern, REDACTED);
  return withoutNamed(withoutJwt(safe, isCut));
}

/** A head without a rest is none, and neither is what begins inside of it: the search goes on behind it. */
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

/** A text without what stands behind a secret's name. */
function withoutNamed(text: string): string {
  let safe = '';
  let from = 0;
  for (const { 0: run, index } of text.matchAll(NAME_RUN)) {
    if (index < from) continue;
    const name = run.slice(-MAX_NAME_CHARS);
    const end = index + run.length;
    // `--password value`: a name of a command stands before its value without a sign.
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

/** What a sticky expression finds at a place. */
function matchAt(sticky: RegExp, text: string, at: number): string | undefined {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0];
}
