/**
 * `client_secret_basic` in both forms: form-encoded as RFC 6749 requires (§2.3.1, Appendix B), which leaves letters, digits and `*-._`
 * unchanged, and plain, for servers that never decode. Pure.
 */
import type { ClientAuth } from 'oauth4webapi';

/** Encodes a text as a form value (WHATWG URL, application/x-www-form-urlencoded). */
const formEncoded = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);
const plain = (text: string): string => text;

/** @returns the forms to try in order, each after a refusal of the previous; the plain form only if it differs and can be parsed */
export function basicAuthentications(clientId: string, clientSecret: string): ClientAuth[] {
  const isSame = [clientId, clientSecret].every(text => formEncoded(text) === text);
  const isReadable = !clientId.includes(':');
  const forms = isSame || !isReadable ? [formEncoded] : [formEncoded, plain];
  return forms.map(encode => (_server, _client, _body, headers) => {
    const bytes = new TextEncoder().encode(`${encode(clientId)}:${encode(clientSecret)}`);
    headers.set('authorization', `Basic ${btoa(String.fromCharCode(...bytes))}`);
  });
}
