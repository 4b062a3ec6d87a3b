/** Formats an upstream's own error as a part of one line for people. Pure. */
import { withoutSecretForms } from '../../shared/redaction/secret-patterns.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import type { JsonObject } from '../../shared/protocol.ts';

/** Most characters of a server's error that are repeated. */
const MAX_SAID_CHARS = 200;

/** Returns what a server says of its error, without what looks like a secret. */
export function toSaid({ code, message }: JsonObject): string {
  const text = typeof message === 'string' ? message.slice(0, 4 * MAX_SAID_CHARS) : '';
  const said = toOneLine(withoutSecretForms(text), MAX_SAID_CHARS);
  return ` (${String(code)}${said === '' ? '' : `: ${said}`})`;
}
