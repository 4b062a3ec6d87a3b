/** The check of an audit chain finds each kind of change, at the first wrong row. */
import { describe, expect, it } from 'vitest';
import { chain, GENESIS, type ChainedEvent } from '../../../src/audit/audit-schema.ts';
import { findBrokenEnd, walk } from '../../../src/audit/chain-check.ts';

async function makeChain(length: number): Promise<ChainedEvent[]> {
  const rows: ChainedEvent[] = [];
  for (let i = 1; i <= length; i += 1) {
    const event = {
      id: `event-${i}`,
      at: i,
      principalId: 'p',
      tokenId: 't',
      action: 'server.create',
      subject: `s${i}`,
      outcome: 'done',
      code: null,
      detail: { name: `s${i}` },
    } as const;
    rows.push(await chain('admin', rows.at(-1) ?? GENESIS, event));
  }
  return rows;
}

const rows = await makeChain(6);
const headOf = (row: ChainedEvent | undefined) => ({ seq: row?.seq ?? 0, hash: row?.hash ?? '' });

describe('a chain', () => {
  it('[SEC-6] that nobody changed is verified to its end, at once or in parts', async () => {
    expect(await walk(GENESIS, rows)).toEqual({ head: headOf(rows[5]) });
    expect(await walk(headOf(rows[2]), rows.slice(3))).toEqual({ head: headOf(rows[5]) });
    expect(await walk(GENESIS, [])).toEqual({ head: GENESIS });
    expect(findBrokenEnd(headOf(rows[5]), headOf(rows[5]))).toBeUndefined();
  });

  it.each(
    Object.entries({
      id: 'x',
      at: 99,
      principalId: 'x',
      tokenId: 'x',
      action: 'x',
      subject: 'x',
      outcome: 'denied',
      code: 'forbidden',
      detail: {},
      shard: 'x',
      hash: '0'.repeat(64),
      previousHash: '0'.repeat(64),
    }),
  )('[SEC-6] whose third row has another %s breaks there', async (column, value) => {
    const changed = rows.map((row, i) => (i === 2 ? { ...row, [column]: value } : row));
    expect(await walk(GENESIS, changed)).toEqual({ brokenSeq: 3 });
  });

  it('[SEC-6] without its third row breaks there', async () => {
    expect(await walk(GENESIS, rows.toSpliced(2, 1))).toEqual({ brokenSeq: 3 });
  });

  it('[SEC-6] without its first row breaks there', async () => {
    expect(await walk(GENESIS, rows.slice(1))).toEqual({ brokenSeq: 1 });
  });

  it('[SEC-6] with a forged row breaks at the row after it', async () => {
    const { hash: _, ...third } = { ...(rows[2] as ChainedEvent), principalId: 'somebody' };
    const forged = await chain('admin', headOf(rows[1]), third);
    expect(await walk(GENESIS, rows.toSpliced(2, 1, forged))).toEqual({ brokenSeq: 4 });
  });

  it('[SEC-6] with two swapped rows breaks at the first of them', async () => {
    const [a, b] = [rows[3], rows[4]] as [ChainedEvent, ChainedEvent];
    expect(await walk(GENESIS, rows.toSpliced(3, 2, b, a))).toEqual({ brokenSeq: 4 });
  });
});

describe('the end of a chain', () => {
  it('[SEC-6] shows rows that are missing there', () => {
    expect(findBrokenEnd(headOf(rows[4]), headOf(rows[5]))).toBe(6);
  });
  it('[SEC-6] shows a forged last row', () => {
    expect(findBrokenEnd({ seq: 6, hash: 'x' }, headOf(rows[5]))).toBe(6);
  });
});
