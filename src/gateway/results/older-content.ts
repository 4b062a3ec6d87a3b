/**
 * Replaces content blocks that a client's revision does not have: such clients refuse a whole result for one kind of block that they do not
 * know (`PromptMessage` and `CallToolResult` in schema.json of 2024-11-05 and 2025-03-26). Pure.
 */
import type { JsonObject } from '../../shared/protocol.ts';
import { editBlocks, type Edit } from './content-blocks.ts';

/** The revisions that introduced kinds of blocks, and what a client of an older one gets instead. */
const NEWER: readonly { since: string; type: string; edit: Edit }[] = [
  { since: '2025-06-18', type: 'resource_link', edit: toText },
  { since: '2025-03-26', type: 'audio', edit: toEmbedded },
];

/** @param version the client's revision, of the legacy era */
export function toOlderContent(result: string, parsed: JsonObject, version: string): string {
  const unknown = NEWER.filter(({ since }) => version < since);
  if (unknown.length === 0) return result;
  return editBlocks(
    result,
    parsed,
    block => unknown.find(({ type }) => type === block['type'])?.edit,
  );
}

/** Writes a link as text. */
function toText(raw: string): string {
  const link = JSON.parse(raw) as JsonObject;
  const texts = ['title', 'name', 'uri', 'description'].map(key => link[key]);
  const [title, name, uri, description] = texts.map(each => (typeof each === 'string' ? each : ''));
  const text = `${title || name}: ${uri}${description ? `\n${description}` : ''}`;
  return JSON.stringify({ type: 'text', text });
}

/** Writes audio as an embedded resource. */
function toEmbedded(raw: string): string {
  const { data, mimeType } = JSON.parse(raw) as JsonObject;
  const resource = { uri: 'urn:audio', mimeType, blob: data };
  return JSON.stringify({ type: 'resource', resource });
}
