/**
 * A server's catalog: the tools it offered at the last discovery, each as the raw JSON the server
 * wrote. A catalog is immutable and named by the hash of its text.
 */
import { rawElements, rawMembers, type RawObject } from '../lib/json-spans.ts';
import { sha256Hex } from '../lib/base64url.ts';

export interface CatalogTool {
  /** The server's own name of the tool. */
  name: string;
  /** The tool's members, raw JSON by key. */
  raw: RawObject;
}

export interface Catalog {
  hash: string;
  tools: readonly CatalogTool[];
  byName: ReadonlyMap<string, CatalogTool>;
}

/** The text of a catalog of these raw tools. */
export function toCatalogText(tools: readonly string[]): string {
  return `[${tools.join(',\n')}]`;
}

/** The name of a catalog's text. */
export function catalogHash(text: string): Promise<string> {
  return sha256Hex(text);
}

/** Read a catalog's text, which discovery has checked. */
export function parseCatalog(hash: string, text: string): Catalog {
  const tools = rawElements(text).map(element => {
    const raw = rawMembers(element);
    return { name: JSON.parse(raw.get('name') ?? '""') as string, raw };
  });
  return { hash, tools, byName: new Map(tools.map(tool => [tool.name, tool])) };
}
