/** Sealed task ids: they open only for their principal, are equal for the same task, and nothing else opens. */
import { describe, expect, it } from 'vitest';
import {
  createTaskIds,
  MAX_OWN_ID_BYTES,
  MAX_SEALED_CHARS,
} from '../../../src/gateway/steps/task-ids.ts';
import type { HeldTask } from '../../../src/gateway/steps/task-ids.ts';
import { createKeyRing, type KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { createRandom, SEED } from '../seeded.ts';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const ring = (active: string) =>
  createKeyRing(JSON.stringify({ active, keys: { k1: key(1), k2: key(2) } }));
const ids = createTaskIds(ring('k1'));
const task: HeldTask = {
  era: 'modern',
  serverId: 's1',
  origin: 'https://a',
  taskId: 'job-7',
  owner: undefined,
};

describe('a sealed task id', () => {
  it('[MCP-4] opens for its principal to the original task', async () => {
    const kinds: HeldTask[] = [
      task,
      { ...task, era: 'legacy', owner: 'session:abc' },
      { ...task, taskId: '"\\\u0000\ud800世界 /+=' },
      { ...task, taskId: 'x'.repeat(MAX_OWN_ID_BYTES - 2) },
    ];
    for (const held of kinds) {
      const sealed = await ids.seal('p', held);
      expect(sealed).toMatch(/^k1\.[\w-]+$/);
      expect(sealed.length).toBeLessThan(MAX_SEALED_CHARS);
      expect(await ids.open('p', sealed)).toEqual(held);
    }
  });

  it('[MCP-4] is equal for the same task, different for others, and reveals nothing of it', async () => {
    const sealed = await ids.seal('p', task);
    expect(await ids.seal('p', { ...task })).toBe(sealed);
    const others = [
      await ids.seal('q', task),
      await ids.seal('p', { ...task, taskId: 'job-8' }),
      await ids.seal('p', { ...task, serverId: 's2' }),
      await ids.seal('p', { ...task, origin: 'https://b' }),
      await ids.seal('p', { ...task, era: 'legacy' }),
      await ids.seal('p', { ...task, owner: 'o' }),
    ];
    expect(new Set([sealed, ...others]).size).toBe(others.length + 1);
    expect(Buffer.from(sealed.slice(3), 'base64url').toString('latin1')).not.toContain('job');
  });

  it('[MCP-4] [ACC-1] opens for no other principal', async () => {
    const sealed = await ids.seal('p', task);
    for (const other of ['', 'q', 'P', 'p ']) expect(await ids.open(other, sealed)).toBeUndefined();
  });

  it('[SEC-1] opens after the active key changed, but not without its key', async () => {
    const sealed = await ids.seal('p', task);
    expect(await createTaskIds(ring('k2')).open('p', sealed)).toEqual(task);
    const without = createKeyRing(JSON.stringify({ active: 'k2', keys: { k2: key(2) } }));
    expect(await createTaskIds(without).open('p', sealed)).toBeUndefined();
  });

  it('[SEC-4] is not made of an empty or an overlong id', async () => {
    for (const taskId of ['', 'x'.repeat(MAX_OWN_ID_BYTES), '世'.repeat(MAX_OWN_ID_BYTES / 2)]) {
      await expect(ids.seal('p', { ...task, taskId })).rejects.toMatchObject({
        code: 'upstream_bad_message',
      });
    }
  });

  it('[SEC-9] is not decrypted if it is too long, or written differently', async () => {
    const looked: number[] = [];
    const plain = JSON.stringify(['modern', 's1', 'https://a', 'job-7']);
    const open = (_purpose: string, sealed: string) => {
      looked.push(sealed.length);
      return Promise.resolve(plain);
    };
    const careless = createTaskIds({ ...ring('k1'), open } as KeyRing);
    const long = 'A'.repeat(MAX_SEALED_CHARS - 4);
    expect(await careless.open('p', `k12.${long}`)).toEqual(task);
    expect(await careless.open('p', `k123.${long}`)).toBeUndefined();
    expect(await careless.open('p', 'k1.AB')).toBeUndefined();
    expect(looked).toEqual([MAX_SEALED_CHARS]);
  });

  it(`[MCP-4] [SEC-4] opens in no other form (seed ${SEED})`, async () => {
    const random = createRandom();
    const sealed = await ids.seal('p', task);
    const other = await ids.seal('p', { ...task, taskId: 'job-8' });
    const state = await ring('k1').seal('state', JSON.stringify(['modern', 's1', 'job-7']), 'p');
    const forged = [
      '',
      '.',
      'k1',
      'k1.',
      'job-7',
      state,
      `${sealed}=`,
      `${sealed} `,
      `k2${sealed.slice(2)}`,
    ];
    forged.push(sealed.repeat(200), `k1.${'A'.repeat(MAX_SEALED_CHARS)}`);
    for (let i = 0; i < 300; i += 1) {
      const at = 3 + random.below(sealed.length - 3);
      const letter = random.pick([...'ABCDefgh0123_-.~']);
      forged.push(sealed.slice(0, at), sealed.slice(0, at) + other.slice(at));
      forged.push(`${sealed.slice(0, at)}${letter}${sealed.slice(at + 1)}`);
    }
    for (const id of forged.filter(each => each !== sealed && each !== other)) {
      expect([id, await ids.open('p', id)]).toEqual([id, undefined]);
    }
  });
});
