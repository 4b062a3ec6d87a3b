/**
 * What a span keeps of a value: nothing that looks like a secret, and within a size limit. Pure. The rules for secrets
 * are those of the audit.
 */
import { redactArguments, redactText } from '../shared/redaction/redact-arguments.ts';
import { isSecretName, REDACTED } from '../shared/redaction/secret-patterns.ts';

/** Longest text of an attribute, in UTF-16 units; for JSON the audit's limit on arguments applies. */
const MAX_TEXT_CHARS = 1_024;
const MAX_KEY_CHARS = 64;
const MAX_WORD_CHARS = 128;

export type Value = string | number | boolean;

/** Makes a name, a decision or a code safe. */
export const safeWord = (text: string): string => redactText(text, MAX_WORD_CHARS);

export const safeKey = (key: string): string => redactText(key, MAX_KEY_CHARS);

/** Makes the value of an attribute safe. */
export function safeValue(key: string, value: Value): Value {
  if (typeof value === 'boolean') return value;
  if (isSecretName(key, typeof value === 'number')) return REDACTED;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return safeJson(value) ?? redactText(value, MAX_TEXT_CHARS);
}

/** Members of a JSON text are judged by their own names. */
function safeJson(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const { arguments: kept, arguments_cut: isCut } = redactArguments(text, undefined);
    return kept === undefined ? '[cut]' : `${JSON.stringify(kept)}${isCut ? '[cut]' : ''}`;
  } catch {
    return undefined;
  }
}
