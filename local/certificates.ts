/**
 * Certificate authorities that workerd has to trust beside its own: those of NODE_EXTRA_CA_CERTS, as Node does. A file
 * that cannot be read adds none, as in Node.
 */
import { readFileSync } from 'node:fs';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The certificates of NODE_EXTRA_CA_CERTS, each in PEM. */
export function trustedCertificates(): string[] {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  if (file === undefined) return [];
  try {
    return readFileSync(file, 'utf8').match(CERTIFICATE) ?? [];
  } catch {
    return [];
  }
}
