/**
 * Keeps a server's stored credential out of what its errors say (SEC-2). Results pass unchanged;
 * only error texts, where servers repeat what they were sent, are looked through.
 */
import type { RawResponse } from './message.ts';

const REDACTED = '[redacted]';
/** Shorter values are no secrets and would redact ordinary words. */
const MIN_SECRET_CHARS = 8;

/** @param headers the credential's headers as they are sent */
export function withoutSecrets(
  response: RawResponse,
  headers: Readonly<Record<string, string>>,
): RawResponse {
  if (!('error' in response)) return response;
  const secrets = Object.values(headers)
    .flatMap(value => [value, value.slice(value.indexOf(' ') + 1)])
    .filter(value => value.length >= MIN_SECRET_CHARS && response.error.includes(value));
  if (secrets.length === 0) return response;
  const error = secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), response.error);
  return { ...response, error };
}
