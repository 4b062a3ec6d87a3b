/**
 * Extracts secrets from the headers of an imported server: decides which values are secrets, names them, and replaces each by a reference.
 * Values that already refer to a secret, or are none, stay. Pure.
 */
import { toSecretName } from './placeholders.ts';

/** A secret that an import stores. */
export interface NewSecret {
  name: string;
  value: string;
  /** The only origin to which it is sent. */
  origin: string;
}

const SECRET_HEADER = /auth|token|key|secret|cookie|passw|credential|session|signature/i;
const SCHEME = /^(bearer|basic|token) +(?=\S)/i;
/** Values that can be stored as a secret. */
const STORABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Takes the secrets out of headers.
 * @param server the name that the secrets' names start with
 * @param isFree whether a name can be used
 * @returns the remaining headers, if there were any
 */
export function takeSecrets(
  server: string,
  { url, headers }: { url: string; headers?: Record<string, string> | undefined },
  isFree: (name: string) => boolean,
): { headers: { headers?: Record<string, string> }; secrets: NewSecret[] } {
  if (!headers) return { headers: {}, secrets: [] };
  const { origin } = new URL(url);
  const secrets: NewSecret[] = [];
  const kept = Object.entries(headers).map(([header, text]): [string, string] => {
    const scheme = SCHEME.exec(text)?.[0] ?? '';
    const value = text.slice(scheme.length);
    const isSecret = (scheme !== '' || SECRET_HEADER.test(header)) && !text.includes('${');
    if (!isSecret || !STORABLE.test(value)) return [header, text];
    const used = (name: string) => !isFree(name) || secrets.some(secret => secret.name === name);
    const name = toFreeName(toSecretName(`${server}_${header}`) ?? 'SECRET', used);
    secrets.push({ name, value, origin });
    return [header, `${scheme}\${${name}}`];
  });
  return { headers: { headers: Object.fromEntries(kept) }, secrets };
}

function toFreeName(wanted: string, isUsed: (name: string) => boolean): string {
  let name = wanted;
  for (let number = 2; isUsed(name); number += 1) name = `${wanted.slice(0, 60)}_${number}`;
  return name;
}
