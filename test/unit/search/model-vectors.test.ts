/** Vectors from a model: which texts are sent to it, what is stored of its answers, and how vectors are compared. */
import { describe, expect, it } from 'vitest';
import {
  buildModelVectors,
  readModelVectors,
  toModelVector,
  type EmbedTexts,
  type ModelVectors,
} from '../../../src/search/index/model-vectors.ts';
import { takeVector } from '../../../src/search/index/vectors.ts';
import { toTool } from './made.ts';

/** A model that returns the length of a text and notes the texts that it got. */
function createModel(dimensions = 4) {
  const asked: string[][] = [];
  const embed: EmbedTexts = async texts => {
    asked.push([...texts]);
    return texts.map(({ length }) => Array.from({ length: dimensions }, (_, i) => length * i + 1));
  };
  return { asked, embed };
}
function read(bytes: Uint8Array<ArrayBuffer>): ModelVectors {
  const vectors = readModelVectors(bytes.buffer);
  if (!vectors) throw new Error('not readable');
  return vectors;
}
const valuesOf = (vectors: ModelVectors, place: number): number[] => {
  const { scale, bytes } = takeVector(vectors, place, vectors.dimensions);
  return Array.from(bytes, value => value * scale);
};
const TOOLS = [toTool('one', 'First'), toTool('two', 'Second thing'), toTool('three', 'Third')];

describe('vectors by a model', () => {
  it("[FIND-1] are the model's, normalized, in signed bytes, requested in small batches", async () => {
    const { asked, embed } = createModel();
    const vectors = read((await buildModelVectors(TOOLS, embed, 2)).bytes);
    expect(vectors).toMatchObject({ size: 3, dimensions: 4 });
    expect(asked).toEqual([['one  First', 'two  Second thing'], ['three  Third']]);
    for (const [place, text] of asked.flat().entries()) {
      const [said = []] = await embed([text]);
      valuesOf(vectors, place).forEach((value, i) => {
        expect(value).toBeCloseTo(toModelVector(said)[i] ?? NaN, 2);
      });
    }
  });

  it('[FIND-1] are requested only for new texts, and else reused', async () => {
    const { asked, embed } = createModel();
    const before = read((await buildModelVectors(TOOLS, embed, 10)).bytes);
    const changed = [
      toTool('three', 'Third'),
      toTool('two', 'Another thing'),
      toTool('one', 'First'),
    ];
    const after = read((await buildModelVectors(changed, embed, 10, before)).bytes);
    expect(asked[1]).toEqual(['two  Another thing']);
    expect(valuesOf(after, 0)).toEqual(valuesOf(before, 2));
    expect(valuesOf(after, 2)).toEqual(valuesOf(before, 0));
    const same = await buildModelVectors(changed, embed, 10, after);
    expect(asked).toHaveLength(2);
    expect(same.bytes).toEqual((await buildModelVectors(changed, embed, 10)).bytes);
  });

  it('[FIND-1] that the model did not return are missing, and requested the next time', async () => {
    const { asked, embed } = createModel();
    const broken = new Error('broken');
    const failing: EmbedTexts = texts =>
      asked.length === 0 ? embed(texts) : Promise.reject(broken);
    const half = await buildModelVectors(TOOLS, failing, 1);
    expect(half.failure).toBe(broken);
    const vectors = read(half.bytes);
    expect([...vectors.vectorScales].map(scale => scale > 0)).toEqual([true, false, false]);
    const whole = await buildModelVectors(TOOLS, embed, 10, vectors);
    expect(whole.failure).toBeUndefined();
    expect(asked).toEqual([['one  First'], ['two  Second thing', 'three  Third']]);
    expect(whole.bytes).toEqual((await buildModelVectors(TOOLS, embed, 10)).bytes);
    const none = await buildModelVectors(TOOLS, () => Promise.reject(broken), 10);
    expect(read(none.bytes)).toMatchObject({ size: 3, dimensions: 0 });
    const before = asked.length;
    expect((await buildModelVectors(TOOLS, embed, 10, read(none.bytes))).bytes).toEqual(
      whole.bytes,
    );
    expect(asked.slice(before)).toHaveLength(1);
  });

  it("[FIND-1] are all requested again if the model's dimensions changed", async () => {
    const before = read((await buildModelVectors(TOOLS, createModel(4).embed, 10)).bytes);
    const { asked, embed } = createModel(8);
    const more = [...TOOLS, toTool('four', 'Fourth')];
    const after = read((await buildModelVectors(more, embed, 10, before)).bytes);
    expect(after).toMatchObject({ size: 4, dimensions: 8 });
    expect(asked.at(-1)).toHaveLength(4);
    expect(after.vectorScales.every(scale => scale > 0)).toBe(true);
  });

  it("[FIND-1] have the model's dimensions, up to 1,024; none may be empty", async () => {
    expect(toModelVector(Array.from({ length: 3_072 }, () => 1))).toHaveLength(1_024);
    expect([...toModelVector([3, 0, 4, 0, 0])]).toEqual(
      [0.6, 0, 0.8, 0, 0, 0, 0, 0].map(Math.fround),
    );
    expect([...toModelVector([0, 0])]).toEqual([0, 0, 0, 0]);
    const mixed: EmbedTexts = async texts => texts.map((_, i) => (i === 1 ? [] : [1, 0, 0, 0]));
    const vectors = read((await buildModelVectors(TOOLS, mixed, 10)).bytes);
    expect([...vectors.vectorScales].map(scale => scale > 0)).toEqual([true, false, true]);
  });

  it('[FIND-1] are read only in the form in which they are written', async () => {
    const { bytes } = await buildModelVectors(TOOLS, createModel().embed, 10);
    expect(readModelVectors(bytes.buffer)).toBeDefined();
    expect(readModelVectors(new ArrayBuffer(0))).toBeUndefined();
    expect(readModelVectors(bytes.slice(0, -1).buffer)).toBeUndefined();
    for (const place of [0, 4, 8, 12]) {
      const other = bytes.slice();
      other[place] = (other[place] ?? 0) + 1;
      expect(readModelVectors(other.buffer)).toBeUndefined();
    }
  });

  it('[FIND-1] of a catalog without tools need no request', async () => {
    const { asked, embed } = createModel();
    const { bytes } = await buildModelVectors([], embed, 10);
    expect(read(bytes)).toMatchObject({ size: 0, dimensions: 0 });
    expect(asked).toEqual([]);
  });
});
