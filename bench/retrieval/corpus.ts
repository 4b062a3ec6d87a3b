/**
 * The tools and requests of `corpora/retrieval` in the form the search takes. Owns their format; refuses a folder without them with one
 * line.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { readEmbedding, type Embedding } from '../../src/search/text/embedding.ts';
import type { Searched } from '../../src/search/index/part.ts';
import { buildSegment, readSegment, type SearchedTool } from '../../src/search/index/segment.ts';

const EMBEDDING = fileURLToPath(new URL('../../pages/search/embedding.bin', import.meta.url));

export interface Request {
  query: string;
  kind: string;
  relevant: ReadonlySet<string>;
}

/** One server with its tools. */
export interface CorpusServer {
  name: string;
  description: string;
  tools: { id: string; tool: SearchedTool }[];
}

/** Servers, and the requests that their tools answer. */
export interface Corpus {
  servers: CorpusServer[];
  requests: Request[];
}

interface ToolLine {
  id: string;
  server: string;
  name: string;
  description?: string | null;
  inputSchema?: { properties?: Record<string, { description?: unknown } | null> } | null;
  params?: string[];
  serverTitle?: string;
  serverDescription?: string;
}

function readLines<T>(folder: string, file: string): T[] {
  const path = join(folder, file);
  if (!existsSync(path)) throw new Error(`${path} is not there; --corpus names its folder`);
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map(line => JSON.parse(line) as T);
}

function toTool({ name, description, inputSchema, params = [] }: ToolLine): SearchedTool {
  const properties = Object.entries(inputSchema?.properties ?? {});
  const described = properties.map(([key, value]) => {
    const text = value?.description;
    return typeof text === 'string' ? { name: key, description: text } : { name: key };
  });
  const parameters = [...described, ...params.map(key => ({ name: key }))];
  return { name, description: description ?? '', parameters, readOnly: false };
}

/** Groups tools by server. If a corpus does not describe its servers, they get no name that a search could find. */
export function readServers(folder: string, file: string): CorpusServer[] {
  const servers = new Map<string, CorpusServer>();
  for (const line of readLines<ToolLine>(folder, file)) {
    const { serverTitle = '', serverDescription = '' } = line;
    const server = servers.get(line.server) ?? {
      name: serverTitle,
      description: serverDescription,
      tools: [],
    };
    servers.set(line.server, server);
    server.tools.push({ id: line.id, tool: toTool(line) });
  }
  return [...servers.values()];
}

/** Reads one of the corpora, `gateway` or `metatool`. */
export function readCorpus(folder: string, name: string): Corpus {
  const lines = readLines<{ query: string; kind: string; relevant: string[] }>(
    folder,
    `${name}-queries.jsonl`,
  );
  return {
    servers: readServers(folder, `${name}-tools.jsonl`),
    requests: lines.map(line => ({ ...line, relevant: new Set(line.relevant) })),
  };
}

/** Reads the shipped embedding table. */
export function readShippedEmbedding(): Embedding {
  return readEmbedding(new Uint8Array(readFileSync(EMBEDDING)).buffer);
}

/** Builds and reads the segment of one server. */
export function toSearched(server: CorpusServer, embedding: Embedding): Searched {
  const bytes = buildSegment(
    server.tools.map(({ tool }) => tool),
    embedding,
  );
  const segment = readSegment(bytes.buffer);
  if (!segment) throw new Error('a segment that was just built cannot be read');
  return { segment, server: { name: server.name, description: server.description } };
}

/** Whether the ranking was tuned on this request: about half of all, chosen by a seeded hash. */
export function isTuned(query: string): boolean {
  let hash = 2166136261;
  for (const unit of `seed7${query}`) hash = Math.imul(hash ^ unit.charCodeAt(0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash >>> 13) & 1) === 0;
}
