/**
 * Reads the `mcp.json` of common clients: which servers it names, and how each is reached. Accepts comments and trailing commas, the
 * containers and spellings of many clients (`mcpServers`, `servers`, `mcp.servers`, `context_servers`, `mcp`, lists), and the registry's
 * own form, which is passed on unchanged. One invalid entry never hides the others. Pure; it fetches nothing, and decides nothing about
 * addresses or names.
 */
import stripJsonComments from 'strip-json-comments';
import { parseWithin } from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { readEntry, type McpEntry } from './mcp-entry.ts';

export interface McpJson {
  entries: McpEntry[];
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Where clients keep their servers; the first one present counts. */
const CONTAINERS: readonly (readonly string[])[] = [
  ['mcpServers'],
  ['servers'],
  ['mcp', 'servers'],
  ['mcp', 'mcpServers'],
  ['context_servers'],
  ['experimental', 'modelContextProtocolServers'],
  ['mcp'],
];

/**
 * Reads the text of an `mcp.json`.
 * @returns its entries in their order, or why it is not such a file
 */
export function parseMcpJson(text: string): McpJson | { problem: string } {
  let document: unknown;
  try {
    const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    document = parseWithin(stripJsonComments(json, { trailingCommas: true }));
  } catch (error) {
    return { problem: `is not valid JSON${placeOf(error)}` };
  }
  const found = findContainer(document);
  if (!found) return { problem: 'has no "mcpServers" and no "servers" object' };
  return {
    entries: found.members.map(([key, name, value]) =>
      readEntry(name, `${found.path}.${key}`, value),
    ),
  };
}

/** Where the parser stopped, if it says so. Nothing else of its message is shown: it may contain a part of the text. */
function placeOf(error: unknown): string {
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(String(error)) ?? [];
  return line === undefined ? '' : ` (line ${line}, column ${column})`;
}

type Member = [key: string, name: unknown, value: unknown];

function findContainer(document: unknown): { path: string; members: Member[] } | undefined {
  for (const path of CONTAINERS) {
    let value = document;
    for (const key of path) value = isObject(value) ? value[key] : undefined;
    const members = toMembers(value);
    if (members) return { path: path.join('.'), members };
  }
  return undefined;
}

/** Entries by name, or a list of entries that contain their names. */
function toMembers(container: unknown): Member[] | undefined {
  if (Array.isArray(container)) {
    return container.map((value: unknown, index) => [String(index), nameOf(value), value]);
  }
  if (!isObject(container)) return undefined;
  return Object.entries(container).map(([name, value]) => [name, name, value]);
}

function nameOf(value: unknown): unknown {
  return isObject(value) ? (value as JsonObject)['name'] : undefined;
}
