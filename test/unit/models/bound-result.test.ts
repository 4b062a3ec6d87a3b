/** Results shortened to what a model may get. */
import { describe, expect, it } from 'vitest';
import {
  boundResult,
  MAX_RESULT_CHARS,
  MAX_RESULT_DATA_CHARS,
} from '../../../src/models/formats/bound-result.ts';
import { toParts } from '../../../src/models/formats/result-parts.ts';

const toText = (result: Record<string, unknown>) =>
  toParts(result)
    .map(part => part.text)
    .join('\n');
const text = (said: string) => ({ type: 'text', text: said });

describe('a result', () => {
  it('[LLM-2] within the bounds is unchanged', () => {
    const result = { content: [text('a')], structuredContent: { a: 1 }, _meta: { b: 2 } };
    expect(boundResult(result)).toBe(result);
  });

  it('[LLM-2] is cut between characters, with one note for all that follows', () => {
    const long = 'x'.repeat(MAX_RESULT_CHARS - 1);
    const result = boundResult({ content: [text(`${long}😀`), text('more')], isError: true });
    expect(result['isError']).toBe(true);
    const [first, second] = result['content'] as { text: string }[];
    expect(first?.text).toBe(
      `${long}\n[cut: ${long.length} of ${long.length + 2} characters are shown]`,
    );
    expect(second?.text).toBe('\n[cut: 0 of 4 characters are shown]');
  });

  it('[LLM-2] leaves out data, parts and structured content that are too large', () => {
    const data = 'A'.repeat(MAX_RESULT_DATA_CHARS + 1);
    const image = { type: 'image', data, mimeType: 'image/png' };
    const blob = { type: 'resource', resource: { uri: 'a:b', blob: data } };
    const odd = { type: 'odd', value: 'y'.repeat(MAX_RESULT_CHARS) };
    const parts = Array.from({ length: 120 }, () => text('p'));
    const structuredContent = { list: ['z'.repeat(MAX_RESULT_CHARS)] };
    const result = boundResult({ content: [image, blob, odd, ...parts], structuredContent });
    const said = toText(result);
    expect(said).toContain(`[image of ${data.length} characters of base64, left out]`);
    expect(said).toContain(`[resource of ${data.length} characters of base64, left out]`);
    expect(said).toContain('[23 more parts, left out]');
    expect(said).toContain('[structured content of');
    expect(result).not.toHaveProperty('structuredContent');
    expect(said.length).toBeLessThan(2_000);
  });

  it('[LLM-2] of any form becomes text', () => {
    expect(toText({ content: 'x' })).toBe('The tool returned nothing.');
    expect(toText({ content: [null, { type: 'image' }, { type: 'text', text: 7 }] })).toBe(
      'null\n{"type":"image"}\n{"type":"text","text":7}',
    );
  });
});
