/** Frames between a connector and the gateway: they are read as written, and malformed ones are refused. */
import { describe, expect, it } from 'vitest';
import {
  CHUNK_BYTES,
  MAX_FRAME_BYTES,
  onChannel,
  parseFrame,
  parsePayload,
  toDataFrames,
  toFrame,
  toJsonFrame,
} from '../../../src/upstream/connector/frames.ts';
import { createRandom, SEED } from '../seeded.ts';

describe('a frame', () => {
  it('[CLI-1] is read as it was written, at any offset', () => {
    const head = { status: 200, headers: { 'content-type': 'application/json' } };
    const bytes = toJsonFrame('head', 0xfffffffe, head);
    const shifted = new Uint8Array([0, 0, 0, ...bytes]).subarray(3);
    for (const given of [bytes, shifted]) {
      const frame = parseFrame(given);
      expect(frame).toMatchObject({ type: 'head', channel: 0xfffffffe });
      expect(parsePayload('head', frame?.payload ?? new Uint8Array())).toEqual(head);
    }
    expect(parseFrame(onChannel(shifted, 7))).toMatchObject({ type: 'head', channel: 7 });
  });

  it('[CLI-1] carries data of any length in pieces, in order', () => {
    const bytes = Uint8Array.from({ length: 3 * CHUNK_BYTES + 1 }, (_, i) => i % 251);
    const frames = [...toDataFrames(9, bytes)];
    expect(frames.map(({ length }) => length)).toEqual([
      MAX_FRAME_BYTES,
      MAX_FRAME_BYTES,
      MAX_FRAME_BYTES,
      6,
    ]);
    const read = frames.flatMap(frame => [...(parseFrame(frame)?.payload ?? [])]);
    expect(Uint8Array.from(read)).toEqual(bytes);
    expect([...toDataFrames(9, new Uint8Array())]).toEqual([]);
  });

  it('[CLI-1] [SEC-4] is refused if it is too short, too long or of an unknown type', () => {
    const whole = toFrame('end', 1);
    expect(parseFrame(whole)).toMatchObject({ type: 'end' });
    expect(parseFrame(whole.subarray(0, 4))).toBeUndefined();
    expect(parseFrame(new Uint8Array())).toBeUndefined();
    expect(parseFrame(Uint8Array.of(0, 0, 0, 0, 1))).toBeUndefined();
    expect(parseFrame(Uint8Array.of(200, 0, 0, 0, 1))).toBeUndefined();
    const long = new Uint8Array(MAX_FRAME_BYTES + 1);
    long[0] = 5;
    expect(parseFrame(long)).toBeUndefined();
    expect(parseFrame(long.subarray(1))).toBeUndefined();
  });

  it(`[CLI-1] [SEC-4] of any bytes is parsed or refused, and so is its payload (seed ${SEED})`, () => {
    const random = createRandom(SEED);
    for (let i = 0; i < 5_000; i += 1) {
      const bytes = Uint8Array.from({ length: random.below(40) }, () => random.below(256));
      if (bytes.length > 0 && random.chance(0.7)) bytes[0] = 1 + random.below(10);
      const frame = parseFrame(bytes);
      expect(frame === undefined || frame.payload.length === bytes.length - 5).toBe(true);
      expect(frame && parsePayload('open', frame.payload)).toBeUndefined();
    }
  });
});

it('[CLI-1] [SEC-4] a payload of another form is refused', () => {
  const read = (value: unknown) =>
    parsePayload('credit', new TextEncoder().encode(JSON.stringify(value)));
  expect(read({ bytes: 5 })).toEqual({ bytes: 5 });
  for (const wrong of [{ bytes: 0 }, { bytes: -1 }, { bytes: 1.5 }, { bytes: '5' }, {}, null, []]) {
    expect(read(wrong)).toBeUndefined();
  }
});
