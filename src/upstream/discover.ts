/**
 * Reads what a server offers: every page of `tools/list`, each tool as the raw JSON the server
 * wrote. A tool that is not valid is left out and counted; the others stay. Bounds: pages, tools
 * and bytes.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { rawElements, rawMembers, type RawObject } from '../lib/json-spans.ts';
import { ToolSchema } from '../protocol.ts';
import type { Channel } from './channel.ts';
import type { Deadline } from './deadline.ts';

export interface Discovered {
  /** Raw JSON of each tool, in the server's order, names unique. */
  tools: string[];
  /** One line where something was left out. */
  warning: string | null;
}

export const MAX_PAGES = 500;
export const MAX_TOOLS = 5_000;
export const MAX_CATALOG_CHARS = 20_000_000;

/** @throws PorticoError with an `upstream_*` code; SessionForgotten */
export async function discoverTools(channel: Channel, deadline: Deadline): Promise<Discovered> {
  const tools: string[] = [];
  const names = new Set<string>();
  let leftOut = 0;
  let chars = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params: RawObject = new Map();
    if (cursor !== undefined) params.set('cursor', JSON.stringify(cursor));
    const { raw, nextCursor } = await listPage(channel, params, deadline);
    for (const text of raw) {
      const name = validName(text);
      if (name === undefined || names.has(name)) {
        leftOut += 1;
        continue;
      }
      names.add(name);
      tools.push(text);
      chars += text.length;
    }
    if (tools.length > MAX_TOOLS || chars > MAX_CATALOG_CHARS) {
      throw new PorticoError('upstream_too_large', `More than ${MAX_TOOLS} tools or too large`);
    }
    if (nextCursor === undefined || nextCursor === cursor) {
      return { tools, warning: leftOut === 0 ? null : `${leftOut} invalid tools were left out` };
    }
    cursor = nextCursor;
  }
  throw new PorticoError('upstream_too_large', `The list has more than ${MAX_PAGES} pages`);
}

async function listPage(channel: Channel, params: RawObject, deadline: Deadline) {
  const response = await channel.request('tools/list', params, deadline);
  if ('error' in response) {
    // A server without tools need not know the method.
    if (response.parsed['code'] === -32601) return { raw: [], nextCursor: undefined };
    throw new PorticoError('upstream_4xx', 'The server refused to list its tools');
  }
  const { tools, nextCursor } = response.parsed;
  if (!Array.isArray(tools))
    throw new PorticoError('upstream_bad_message', 'The list has no tools');
  return {
    raw: rawElements(rawMembers(response.result).get('tools') ?? '[]'),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
  };
}

/** The tool's name where the tool is one, by the SDK's schema. */
function validName(text: string): string | undefined {
  const tool = ToolSchema.safeParse(JSON.parse(text));
  return tool.success && tool.data.name !== '' ? tool.data.name : undefined;
}
