/** The verification of a part of a chain: its bounds, the report of a missing row before it, and how it continues. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ChainedEvent } from '../../../src/audit/audit-schema.ts';
import { insertMissing } from '../../../src/audit/audit-store.ts';
import {
  beginningOf,
  createPerson,
  endOf,
  logOf,
  rowsOf,
  type Person,
} from '../support/call-rows.ts';
import { createPortico } from '../support/portico.ts';

const portico = createPortico();
let person: Person;
let rows: ChainedEvent[];

const verify = async (query: string) => {
  const path = `/api/v1/audit/verify?shard=${encodeURIComponent(person.shard)}&${query}`;
  const response = await portico.api('GET', path);
  const { head: _head, shard: _shard, ...told } = await response.json<Record<string, unknown>>();
  return { status: response.status, ...told };
};
const without = (seq: number) =>
  env.DB.prepare('DELETE FROM audit_events WHERE shard = ? AND seq = ?')
    .bind(person.shard, seq)
    .run();

beforeAll(async () => {
  person = await createPerson(portico);
  for (let i = 0; i < 6; i += 1) {
    const id = crypto.randomUUID();
    await logOf(person).begin(beginningOf(person, id, { refused: endOf(id) }));
  }
  rows = await rowsOf(portico, person);
});
afterEach(async () => {
  const clear = ['audit_events', 'audit_heads'].map(table =>
    env.DB.prepare(`DELETE FROM ${table} WHERE shard = ?`).bind(person.shard),
  );
  await env.DB.batch([...clear, insertMissing(env.DB, rows)]);
});

describe('a verification of a part of a chain', () => {
  const intact = { status: 200, is_intact: true };
  const broken = { status: 200, is_intact: false };

  it('[SEC-6] counts its rows and reports where the next part begins', async () => {
    expect(await verify('from=1&limit=4')).toMatchObject({ ...intact, rows: 4, next_from: 5 });
    const rest = await verify('from=5&limit=4');
    expect(rest).toMatchObject({ ...intact, rows: 2 });
    expect(rest).not.toHaveProperty('next_from');
    expect(await verify('from=3&limit=1')).toMatchObject({ ...intact, rows: 1, next_from: 4 });
    // Right after the end there is nothing, and nothing is wrong.
    expect(await verify('from=7&limit=4')).toMatchObject({ ...intact, rows: 0 });
    expect(await verify('from=8&limit=4')).toMatchObject({ status: 422 });
  });

  it('[SEC-6] shows that the row before it is missing, or one within it', async () => {
    await without(3);
    expect(await verify('from=4&limit=2')).toMatchObject({
      ...broken,
      rows: 0,
      first_broken_seq: 3,
    });
    expect(await verify('from=2&limit=4')).toMatchObject({
      ...broken,
      rows: 1,
      first_broken_seq: 3,
    });
    // A part without the missing row reports nothing.
    expect(await verify('from=1&limit=2')).toMatchObject({ ...intact, rows: 2, next_from: 3 });
    expect(await verify('from=5&limit=2')).toMatchObject({ ...intact, rows: 2 });
  });

  it('[SEC-6] counts the valid rows before the last one, which is missing', async () => {
    await without(6);
    expect(await verify('from=2')).toMatchObject({ ...broken, rows: 4, first_broken_seq: 6 });
    expect(await verify('from=6')).toMatchObject({ ...broken, rows: 0, first_broken_seq: 6 });
  });
});
