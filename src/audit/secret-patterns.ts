/**
 * What looks like a secret: by the name it stands under, and by its own form. Pure. It errs on the side of hiding.
 * Refuses: to decide that a text is harmless; it only takes out what it knows.
 */

export const REDACTED = '[redacted]';

/** Parts of names, in any casing and with any separators, under which secrets stand. */
const SECRET_NAMES = new RegExp(
  [
    'passw(?:or)?d',
    'passwd',
    'passphrase',
    'passcode',
    'pwd',
    'secret',
    'token',
    'apikey',
    'accesskey',
    'privatekey',
    'signingkey',
    'encryptionkey',
    'sshkey',
    'authorization',
    'credential',
    'cookie',
    'bearer',
    'jwt',
    'sessionid',
    'signature',
    'connectionstring',
  ].join('|'),
);
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
  /\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g,
];
const SCHEMES = /\b(bearer|basic)\s{1,8}[A-Za-z0-9._~+/=-]{6,}/gi;
/** A name with what stands between it and its value: as in addresses, headers, JSON and commands. */
const NAMES =
  /(-{0,2}[A-Za-z][\w.-]{0,60})(?:\\{0,4}["']?\s{0,8}[=:]\s{0,8}\\{0,4}|(?<=-[\w.-]{1,60})\s{1,8})/g;
/** A quote that is not closed, as in JSON that breaks off, hides all behind it. */
const VALUE = /"[^"]*"?|'[^']*'?|[^\s&;,"'#{}[\]]+/y;
/** Name and password of an address. */
const USERINFO = /(\b[a-z][a-z0-9+.-]{0,40}:\/\/)[^\s/?#@]{1,200}@/gi;

/** Whether what stands under a name is a secret. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  if (SECRET_WORDS.has(plain)) return true;
  return SECRET_NAMES.test(plain) && !COUNTS.test(plain);
}

/** A text without what has the form of a secret. */
export function withoutSecretForms(text: string): string {
  let safe = text.replaceAll(SCHEMES, `$1 ${REDACTED}`).replaceAll(USERINFO, `$1${REDACTED}@`);
  for (const pattern of SECRET_VALUES) safe = safe.replaceAll(pattern, REDACTED);
  return withoutNamed(safe);
}

/** A text without what stands behind a secret's name. */
function withoutNamed(text: string): string {
  let safe = '';
  let from = 0;
  for (const { 0: whole, 1: name = '', index } of text.matchAll(NAMES)) {
    if (index < from || !isSecretName(name)) continue;
    VALUE.lastIndex = index + whole.length;
    const value = VALUE.exec(text)?.[0];
    if (value === undefined) continue;
    safe += text.slice(from, index + whole.length) + REDACTED;
    from = index + whole.length + value.length;
  }
  return safe + text.slice(from);
}
