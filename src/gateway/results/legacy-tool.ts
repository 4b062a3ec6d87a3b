/**
 * Rewrites tools and their results for clients of the legacy era, whose schemas are narrower (`legacy-schema.ts`), in the way in which the
 * SDK's servers do it for such clients. `content` stays as it is; if it has no text, the structured content is added as text (SEP-2106,
 * Backward Compatibility). Pure.
 */
import type { CatalogItem } from '../../servers/catalog/catalog.ts';
import { editMember } from '../../shared/json/json-edit.ts';
import {
  fromRawMembers,
  rawElements,
  rawMembers,
  type RawObject,
} from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { isWrapped, legacyInputSchema, legacyOutputSchema, WRAPPED_AS } from './legacy-schema.ts';

const remembered = new WeakMap<CatalogItem, CatalogItem>();

/** Returns a tool for a legacy client; the same object if nothing has to change. */
export function toLegacyTool(item: CatalogItem): CatalogItem {
  const held = remembered.get(item);
  if (held) return held;
  const made = legacyTool(item);
  remembered.set(item, made);
  return made;
}

function legacyTool(item: CatalogItem): CatalogItem {
  const input = item.raw.get('inputSchema') ?? '{}';
  const output = item.raw.get('outputSchema');
  const forInput = legacyInputSchema(input);
  const forOutput = output === undefined ? undefined : legacyOutputSchema(output);
  if (forInput === input && forOutput === output) return item;
  const raw: RawObject = new Map(item.raw).set('inputSchema', forInput);
  if (forOutput === undefined) raw.delete('outputSchema');
  else raw.set('outputSchema', forOutput);
  return { ...item, raw };
}

/**
 * Returns a tool's result for a legacy client.
 * @param result raw result of the server
 * @param parsed the same, parsed; the raw one is read only if its structured content has to change
 */
export function toLegacyResult(item: CatalogItem, result: string, parsed: JsonObject): string {
  const { structuredContent } = parsed;
  if (structuredContent === undefined || !hasToBeWrapped(item, parsed)) return result;
  let structured = 'null';
  const wrapped = editMember(result, 'structuredContent', raw => {
    structured = raw;
    return `{"${WRAPPED_AS}":${raw}}`;
  });
  if (isObject(structuredContent) || hasText(parsed['content'])) return wrapped;
  // Clients that look only at text would find nothing.
  const said = `{"type":"text","text":${JSON.stringify(structured)}}`;
  const members = rawMembers(wrapped);
  const content = members.get('content');
  const blocks = content?.startsWith('[') ? rawElements(content) : [];
  return fromRawMembers(members.set('content', `[${[...blocks, said].join(',')}]`));
}

function hasToBeWrapped({ raw }: CatalogItem, { structuredContent, resultType }: JsonObject) {
  if (!isObject(structuredContent)) return true;
  const schema = raw.get('outputSchema');
  if (schema === undefined || !isWrapped(JSON.parse(schema) as JsonObject)) return false;
  // A server of both eras wraps it by itself if the call was made in the legacy one.
  const [only, ...others] = Object.keys(structuredContent);
  return resultType !== undefined || only !== WRAPPED_AS || others.length > 0;
}

const hasText = (content: unknown): boolean =>
  Array.isArray(content) && content.some(block => isObject(block) && block['type'] === 'text');
