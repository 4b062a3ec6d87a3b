/** Frames split into pieces and reassembled: nothing is lost, and no character is split. */
import { expect, it } from 'vitest';
import { FrameReader, toPieces } from '../../../src/sessions/stream-frames.ts';

const text = '{"a":"\u{1F680}\u{1F680}é\\n"}\nmore\n';

it.each([2, 3, 4, 5, 7, 100])('[MCP-4] a frame in pieces of %i is reassembled', maxChars => {
  const pieces = toPieces({ id: 's.1', text }, maxChars);
  const reader = new FrameReader();
  const frames = pieces.map(piece => reader.push(piece));
  expect(frames.slice(0, -1).every(frame => frame === undefined)).toBe(true);
  expect(frames.at(-1)).toEqual({ id: 's.1', text });
  expect(pieces.filter(piece => !piece.isWellFormed())).toEqual([]);
  for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(maxChars + 1);
});

it('[MCP-4] consecutive frames do not mix', () => {
  const reader = new FrameReader();
  const frames = [
    { id: 'a.1', text: '' },
    { id: '', text },
    { id: '', text: '' },
  ];
  const read = frames.flatMap(frame => toPieces(frame, 4).map(piece => reader.push(piece)));
  expect(read.filter(frame => frame !== undefined)).toEqual(frames);
});
