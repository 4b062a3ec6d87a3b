/**
 * The features of a tool that a classifier sees: the vectors of its own texts and of its server's, and its terms in buckets. Texts are
 * untrusted and bounded. The server's other tools are not read, so a tool that nobody may see has no effect on a visible one. Pure.
 */
import type { Embedding } from '../text/embedding.ts';
import type { SearchedTool } from '../index/searched-tool.ts';
import { hashText, toTerms } from '../text/terms.ts';

export interface ClassifiedTool {
  tool: SearchedTool;
  /** The server's record in the registry. */
  server: { name: string; description: string };
}

export interface Features {
  /** Unit vector of the tool's own texts; all zero where no word is known. */
  own: Float32Array;
  /** The same for its name and title alone. */
  name: Float32Array;
  /** The same for its server's texts. */
  server: Float32Array;
  /** Distinct buckets of its terms and its server's. */
  terms: readonly number[];
  /** Distinct buckets of its server's terms. */
  serverTerms: readonly number[];
}

/** Number of buckets for terms; the server's terms alone have buckets of their own. */
export const BUCKETS = 4_096;
const SERVER_SEED = 0x5eed;
/** How much of a description is read, in characters: the beginning says most. */
const MAX_DESCRIPTION_CHARS = 600;
const MAX_CHARS = 2_000;

/** @param embedding the table that the classifier's weights were made with */
export function toFeatures({ tool, server }: ClassifiedTool, embedding: Embedding): Features {
  const name = [tool.name, tool.title ?? ''].join(' ');
  const description = (tool.description ?? '').slice(0, MAX_DESCRIPTION_CHARS);
  const parameters = tool.parameters.map(parameter => parameter.name).join(' ');
  const own = `${name} ${description}`;
  const ofServer = `${server.name} ${server.description.slice(0, MAX_DESCRIPTION_CHARS)}`;
  return {
    own: embedding.embed(own),
    name: embedding.embed(name),
    server: embedding.embed(ofServer),
    terms: toBuckets(`${own} ${parameters} ${ofServer}`),
    serverTerms: toBuckets(ofServer, SERVER_SEED),
  };
}

function toBuckets(text: string, seed?: number): number[] {
  const terms = new Set(toTerms(text, MAX_CHARS));
  return [...new Set([...terms].map(term => hashText(term, seed) % BUCKETS))];
}
