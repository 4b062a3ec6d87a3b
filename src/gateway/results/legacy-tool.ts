/**
 * Tools and their results for clients of the legacy era, whose schemas are narrower (`legacy-schema.ts`). What such a client
 * cannot take is written in a way that it takes, as the SDK's servers write it for such clients; `content` stays as it is, with
 * the same as text where there was none (SEP-2106, Backward Compatibility). Pure.
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

/** A tool as a legacy client takes it; the same object where nothing has to change. */
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
 * A result of a tool as a legacy client takes it.
 * @param result raw result of the server
 * @param parsed the same parsed; nothing else is read where its structured content is fine
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
  // Clients that look at text only find nothing else there.
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
  // A server of both eras has wrapped it by itself where it was asked in the legacy one.
  const [only, ...others] = Object.keys(structuredContent);
  return resultType !== undefined || only !== WRAPPED_AS || others.length > 0;
}

const hasText = (content: unknown): boolean =>
  Array.isArray(content) && content.some(block => isObject(block) && block['type'] === 'text');
