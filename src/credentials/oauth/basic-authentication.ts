/**
 * `client_secret_basic` in both of its forms: form-encoded as RFC 6749 wants it (§2.3.1, Appendix B), which leaves letters, digits and
 * `*-._` as they are, and plain, as servers read it that never decode. Pure.
 */
import type { ClientAuth } from 'oauth4webapi';

/** A text as the value of a form (WHATWG URL, application/x-www-form-urlencoded). */
const formEncoded = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);
const plain = (text: string): string => text;

/** @returns the ways to try, one after the other where the first is refused; the second only where it differs and can be read */
export function basicAuthentications(clientId: string, clientSecret: string): ClientAuth[] {
  const isSame = [clientId, clientSecret].every(text => formEncoded(text) === text);
  const isReadable = !clientId.includes(':');
  const forms = isSame || !isReadable ? [formEncoded] : [formEncoded, plain];
  return forms.map(encode => (_server, _client, _body, headers) => {
    const bytes = new TextEncoder().encode(`${encode(clientId)}:${encode(clientSecret)}`);
    headers.set('authorization', `Basic ${btoa(String.fromCharCode(...bytes))}`);
  });
}
