/**
 * The parameters of a tool as a search hit shows them: `(to*: string, when: "now"|"later")`, with `*` for required ones and `~` where the
 * schema says more than is shown. One short line made of untrusted text (`signature-types.ts`). Pure.
 */
import type { CatalogItem } from '../../servers/catalog/catalog.ts';
import { isObject } from '../../shared/protocol.ts';
import { MAX_MEMBERS, saysMore, toMembers } from './signature-types.ts';

/** Longest signature, and longest schema that is read, in UTF-16 units. */
export const MAX_SIGNATURE_CHARS = 320;
const MAX_SCHEMA_CHARS = 65_536;
/** Levels of nested objects in a parameter that are written out. */
const DEPTH = 1;
const UNREAD = '(~)';

/** What a server declares about the effect of a tool's calls. */
export type Hint = 'read-only' | 'destructive';

const known = new WeakMap<CatalogItem, string>();

/** Returns the parameters of a tool on one line. */
export function toSignature(item: CatalogItem): string {
  const before = known.get(item);
  if (before !== undefined) return before;
  const made = signatureOf(item.raw.get('inputSchema'));
  known.set(item, made);
  return made;
}

function signatureOf(text = ''): string {
  const schema: unknown = text.length > MAX_SCHEMA_CHARS ? undefined : JSON.parse(text || 'null');
  if (!isObject(schema)) return UNREAD;
  const members = toMembers(schema, DEPTH);
  const isAll = members.length <= MAX_MEMBERS;
  const shown: string[] = [];
  let chars = UNREAD.length + 3;
  for (const { text: member } of members.slice(0, MAX_MEMBERS)) {
    chars += member.length + 2;
    if (chars > MAX_SIGNATURE_CHARS) break;
    shown.push(member);
  }
  // Omitted parameters may be required ones.
  if (!isAll || shown.length < members.length) shown.push('…~');
  else if (saysMore(schema) || isOpen(schema)) shown.push('~');
  return `(${shown.join(', ')})`;
}

/** Whether a schema explicitly accepts members that it does not name. */
const isOpen = ({ additionalProperties }: Record<string, unknown>): boolean =>
  additionalProperties === true;

/** Returns what the annotations state explicitly; undefined where they leave it open. */
export function hintOf({ raw }: CatalogItem): Hint | undefined {
  const annotations: unknown = JSON.parse(raw.get('annotations') ?? 'null');
  if (!isObject(annotations)) return undefined;
  if (annotations['readOnlyHint'] === true) return 'read-only';
  return annotations['destructiveHint'] === true ? 'destructive' : undefined;
}
