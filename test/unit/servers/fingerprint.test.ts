/** Fingerprints: every change of a definition changes it, and an equivalent spelling does not. */
import { describe, expect, it } from 'vitest';
import {
  fingerprintOf,
  approvalId,
  toDefinitions,
} from '../../../src/servers/approvals/definition.ts';
import { createRandom, SEED } from '../seeded.ts';
import { createDefinition, mutate, rewrite } from './definitions.ts';

const ROUNDS = 1_000;

describe('a fingerprint', () => {
  it(`[SEC-7] differs after each of ${ROUNDS} mutations of one field (seed ${SEED})`, async () => {
    const random = createRandom();
    const missed: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = createDefinition(random);
      const { path, definition } = mutate(before, random);
      const [one, other] = await Promise.all([
        fingerprintOf(JSON.stringify(before)),
        fingerprintOf(rewrite(definition, random)),
      ]);
      if (one === other) missed.push({ path, before, definition });
    }
    expect(missed).toEqual([]);
  });

  it(`[SEC-7] is the same after each of ${ROUNDS} reorderings (seed ${SEED})`, async () => {
    const random = createRandom();
    const alarms: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const definition = createDefinition(random);
      const written = rewrite(definition, random);
      expect(JSON.parse(written)).toEqual(definition);
      const before = await fingerprintOf(JSON.stringify(definition));
      if ((await fingerprintOf(written)) !== before) alarms.push(written);
    }
    expect(alarms).toEqual([]);
  });

  it('[SEC-7] is the SHA-256 of the canonical text', async () => {
    // SHA-256 of {"a":[1,true],"b":"é"}
    const { createHash } = await import('node:crypto');
    const wanted = createHash('sha256').update('{"a":[1,true],"b":"é"}').digest('hex');
    expect(await fingerprintOf(' {"b":"\\u00e9","a":[1.0,true]}')).toBe(wanted);
  });
});

describe('definitions', () => {
  it('[SEC-7] are identified by server, kind and name', async () => {
    const ids = await Promise.all([
      approvalId('a', 'tool', 'b'),
      approvalId('a', 'tool', 'c'),
      approvalId('b', 'tool', 'b'),
      approvalId('a', 'instructions', 'b'),
    ]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await approvalId('a', 'tool', 'b')).toBe(ids[0]);
  });

  it('[SEC-7] [SEC-4] are refused if the name is too long to store', async () => {
    const texts = [1_000, 1_001].map(length => JSON.stringify({ name: 'a'.repeat(length) }));
    const [fits, tooLong] = await toDefinitions('s', texts);
    expect(fits?.name).toHaveLength(1_000);
    expect(tooLong).toBeUndefined();
  });
});
