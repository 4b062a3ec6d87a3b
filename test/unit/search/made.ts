/** Shared by the tests of the search: the shipped table, and segments of tools. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { readEmbedding, type Embedding } from '../../../src/search/text/embedding.ts';
import type { Searched } from '../../../src/search/index/part.ts';
import {
  buildSegment,
  readSegment,
  type SearchedTool,
  type Segment,
} from '../../../src/search/index/segment.ts';

const FILE = fileURLToPath(new URL('../../../pages/search/embedding.bin', import.meta.url));

/** The bytes of the table, a copy each time. */
export function readTable(): ArrayBuffer {
  return new Uint8Array(readFileSync(FILE)).buffer;
}

export const EMBEDDING: Embedding = readEmbedding(readTable());

/** A tool without parameters. */
export function toTool(
  name: string,
  description = '',
  rest: Partial<SearchedTool> = {},
): SearchedTool {
  return { name, description, parameters: [], readOnly: false, ...rest };
}

/** A segment of tools, built and read. */
export function toSegment(tools: readonly SearchedTool[], previous?: Segment): Segment {
  const segment = readSegment(buildSegment(tools, EMBEDDING, previous).buffer);
  if (!segment) throw new Error('not readable');
  return segment;
}

/** A server with tools. */
export function toSearched(
  name: string,
  tools: readonly SearchedTool[],
  description = '',
): Searched {
  return { segment: toSegment(tools), server: { name, description } };
}
