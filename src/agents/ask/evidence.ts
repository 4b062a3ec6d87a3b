/**
 * The claims of a summary and their evidence. Pure. A claim is kept only where its evidence occurs in the tool's output, character by
 * character, and is long enough; the others are dropped and counted. This proves that the evidence is there, not that the claim follows
 * from it.
 */
import { z } from 'zod';
import { beginningWithoutSecrets } from '../../shared/redaction/secret-patterns.ts';
import { parseWithin } from '../../shared/json/json-spans.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';

export interface Claim {
  text: string;
  /** A part of the tool's output, verbatim. */
  evidence: string;
}

export interface Summary {
  claims: Claim[];
  /** Number of claims without evidence in the output. */
  dropped: number;
}

/** Shortest evidence, in UTF-16 units, unless it is the whole output. */
const MIN_EVIDENCE_CHARS = 6;
const MAX_CLAIMS = 8;
const MAX_CLAIM_CHARS = 500;
/** Most output that a model is shown, in UTF-16 units. */
const MAX_OUTPUT_CHARS = 20_000;
/** Most output that is read for that, in UTF-16 units. */
const MAX_READ_CHARS = 32_768;

const ClaimsSchema = z.strictObject({
  claims: z.array(z.strictObject({ text: z.string(), evidence: z.string() })).max(100),
});

/** Schema of the answer, for models that can be bound to one. */
export const CLAIMS_FORM: JsonObject = {
  type: 'object',
  properties: {
    claims: {
      type: 'array',
      items: {
        type: 'object',
        properties: { text: { type: 'string' }, evidence: { type: 'string' } },
        required: ['text', 'evidence'],
        additionalProperties: false,
      },
    },
  },
  required: ['claims'],
  additionalProperties: false,
};

/** Returns the texts of a result; its structured content where it has no text. */
export function outputTexts(result: JsonObject): string[] {
  const content: unknown = result['content'];
  const texts = (Array.isArray(content) ? content : []).flatMap((block: unknown) => {
    if (!isObject(block)) return [];
    const holder = block['type'] === 'resource' ? block['resource'] : block;
    const text = isObject(holder) ? holder['text'] : undefined;
    return typeof text === 'string' && text !== '' ? [text] : [];
  });
  if (texts.length > 0 || result['structuredContent'] === undefined) return texts;
  return [JSON.stringify(result['structuredContent'])];
}

/** Returns the beginnings of the texts, up to a bound in total: a model neither sees what follows nor can use it as evidence. */
export function readOutput(texts: readonly string[]): string[] {
  const read: string[] = [];
  let left = MAX_READ_CHARS;
  for (const text of texts) {
    if (left <= 0) break;
    read.push(text.slice(0, left));
    left -= text.length + 1;
  }
  return read;
}

/** Returns what a model is shown of a result: without texts that look like secrets, up to a bound. */
export function shownOutput(texts: readonly string[]): string {
  return beginningWithoutSecrets(readOutput(texts).join('\n'), MAX_OUTPUT_CHARS);
}

/**
 * Reads a model's answer and keeps the claims with evidence.
 * @param answer a model's text
 * @returns undefined where it is no list of claims
 */
export function toSummary(answer: string, texts: readonly string[]): Summary | undefined {
  let json: unknown;
  try {
    json = parseWithin(answer);
  } catch {
    return undefined;
  }
  const parsed = ClaimsSchema.safeParse(json);
  if (!parsed.success) return undefined;
  const all = parsed.data.claims;
  const read = readOutput(texts);
  const claims = all
    .filter(({ text, evidence }) => text.trim() !== '' && isEvidence(evidence, read))
    .slice(0, MAX_CLAIMS)
    .map(({ text, evidence }) => ({ text: toOneLine(text, MAX_CLAIM_CHARS), evidence }));
  return { claims, dropped: all.length - claims.length };
}

function isEvidence(evidence: string, texts: readonly string[]): boolean {
  const bare = evidence.trim();
  if (!/[\p{L}\p{N}]/u.test(bare)) return false;
  if (bare.length < MIN_EVIDENCE_CHARS) return texts.some(text => text.trim() === bare);
  return texts.some(text => text.includes(evidence));
}
