/**
 * Certificate authorities that workerd must trust besides its own: those of NODE_EXTRA_CA_CERTS, as in Node. A file that cannot be read
 * adds none, also as in Node.
 */
import { readFileSync } from 'node:fs';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Returns the certificates of NODE_EXTRA_CA_CERTS, each in PEM. */
export function trustedCertificates(): string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined) return [];
  try {
    return readFileSync(file, 'utf8').match(CERTIFICATE) ?? [];
  } catch {
    return [];
  }
}
