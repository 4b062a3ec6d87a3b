/**
 * Parses signed tokens of others (JWS compact form, RFC 7515 §7.1; JWT, RFC 7519), without trusting them yet. Pure but for the signature.
 */
import { z } from 'zod';
import { isObject, type JsonObject } from '../protocol.ts';
import { fromBase64Url } from './base64url.ts';
import { ALGORITHMS, isSignedBy, type SigningKey } from './signing-keys.ts';

/** Key members of a header other than `kid` are ignored; a header with `crit` (extensions that must be understood) is refused. */
const HeaderSchema = z.looseObject({
  alg: z.enum(ALGORITHMS),
  kid: z.string().max(500).optional(),
  crit: z.undefined().optional(),
});

export interface Jwt {
  header: z.infer<typeof HeaderSchema>;
  claims: JsonObject;
  /** The signed text. */
  signed: string;
  signature: Uint8Array;
}

/** Returns the parts of a token, or undefined if the text is not a token. */
export function parseJwt(text: string, maxChars: number): Jwt | undefined {
  const [head = '', body = '', tail = '', ...more] = text.length > maxChars ? [] : text.split('.');
  const header = HeaderSchema.safeParse(toJson(head));
  const claims = toJson(body);
  const signature = fromBase64Url(tail);
  if (!header.success || !isObject(claims) || !signature || more.length > 0) return undefined;
  return { header: header.data, claims, signed: `${head}.${body}`, signature };
}

/** Whether one of the keys made the signature. */
export async function isSignedByOne(
  { header, signed, signature }: Pick<Jwt, 'header' | 'signed' | 'signature'>,
  keys: readonly SigningKey[],
): Promise<boolean> {
  const checks = await Promise.all(keys.map(key => isSignedBy(key, header.alg, signed, signature)));
  return checks.includes(true);
}

function toJson(part: string): unknown {
  const bytes = fromBase64Url(part);
  try {
    return (
      bytes && JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
    );
  } catch {
    return undefined;
  }
}
