/**
 * Replaces placeholders that a client would have filled in: `${NAME}`, `${env:NAME}`, `{env:NAME}`, `${input:id}`, `${{ secrets.NAME }}`
 * and `${NAME:-default}`. In a header each becomes a reference to a stored secret, `${NAME}`; in an address the default is inserted. A
 * value that only the client could know is a problem. Pure.
 */
import { withoutEnd } from '../../shared/util/without-end.ts';

/** A text with references to secrets, and the secrets' names; or why it cannot be filled. */
export type Filled = { text: string; names: string[] } | { problem: string };

const PLACEHOLDER = /\$\{\{\s*secrets\.([\w-]+)\s*\}\}|\{env:(\w+)\}|\$\{([^{}]*)\}/g;
const PROBLEM = 'has a placeholder that only its client can fill';

/** Returns the secret's name for a variable or an input; undefined if no letter remains. */
export function toSecretName(text: string): string | undefined {
  const name = text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^[^A-Z]+/, '')
    .slice(0, 64);
  return withoutEnd(name, '_') || undefined;
}

/** Replaces the placeholders of a header's value by references to secrets. */
export function fillHeader(value: string): Filled {
  const names = new Set<string>();
  let isClear = !hasUnknown(value.replaceAll(PLACEHOLDER, ''));
  const text = value.replaceAll(PLACEHOLDER, (_whole, ...groups: (string | undefined)[]) => {
    const inner = groups.slice(0, 3).find(group => group !== undefined) ?? '';
    const name = toSecretName(inner.replace(/^(env|input):/, '').split(':-', 1)[0] ?? '');
    if (name === undefined) isClear = false;
    else names.add(name);
    return `\${${name ?? ''}}`;
  });
  return isClear ? { text, names: [...names] } : { problem: PROBLEM };
}

/** Fills an address; it may have defaults, but no value that only the client knows. */
export function fillAddress(value: string): Filled {
  const text = value.replaceAll(/\$\{\w+:-([^{}]*)\}/g, (_whole, fallback: string) => fallback);
  const isClear = !hasUnknown(text.replaceAll(PLACEHOLDER, '{{}}'));
  return isClear ? { text, names: [] } : { problem: `${PROBLEM}; write the address out` };
}

/** Whether an unknown kind of placeholder remains. */
function hasUnknown(text: string): boolean {
  const open = text.indexOf('{{');
  return text.includes('${') || (open !== -1 && text.includes('}}', open + 2));
}
