/** Bodies of the API without a length, or with a wrong one: who may send them, and how much of them is read and counted. */
import { env } from 'cloudflare:workers';
import { expect, it, onTestFinished } from 'vitest';
import { ADMIN, createPortico, SERVERS } from '../support/portico.ts';

const portico = createPortico();
const MIB = 1_048_576;
const PIECE = 65_536;
const HEADERS = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN}` };

/** Posts a body in chunks. @returns the status, and how many bytes were read */
async function post(path: string, bytes: number, headers: Record<string, string>) {
  let read = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (read >= bytes) return controller.close();
        read += PIECE;
        controller.enqueue(new Uint8Array(PIECE).fill(0x20));
      },
    },
    { highWaterMark: 0 },
  );
  const response = await portico.fetch(path, { method: 'POST', headers, body });
  await response.body?.cancel();
  return { status: response.status, read };
}

it.each([SERVERS, '/api/v1/tokens', '/nothing-here'])(
  '[SEC-9] [ACC-1] a body for %s is not read before its sender is known',
  async path => {
    const headers = { 'content-type': 'application/json' };
    const { status, read } = await post(path, 4 * MIB, headers);
    expect(status).toBe(401);
    expect(read).toBeLessThanOrEqual(PIECE);
  },
);

it('[SEC-4] a body in chunks may not be longer than any other', async () => {
  expect((await post(SERVERS, 5 * MIB, HEADERS)).status).toBe(413);
  expect((await post(SERVERS, PIECE, HEADERS)).status).toBe(400);
});

it('[SEC-9] a body in chunks counts whole, whatever length it names', async () => {
  // There is never room for the longest body.
  const small = createPortico({ PORTICO_PRINCIPAL_BYTES_IN_FLIGHT: String(MIB) });
  const send = (headers: Record<string, string>) =>
    small.fetch(SERVERS, { method: 'POST', headers: { ...HEADERS, ...headers }, body: '{}' });
  const named = { 'content-length': '2' };
  expect((await send(named)).status).toBe(422);
  expect((await send({ ...named, 'transfer-encoding': 'chunked' })).status).toBe(413);
});

it('[SEC-9] [OPS-7] the table of usage counts until its client has taken it', async () => {
  const ROWS = 3_000;
  const sums = Array<number>(19).fill(1).join(', ');
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO usage SELECT '2026-01-01', 'p' || i, 't', 'tool.call', 's', 'x', 'git', ${sums} FROM n`,
  )
    .bind(ROWS)
    .run();
  onTestFinished(async () => {
    await env.DB.prepare(`DELETE FROM usage WHERE day = '2026-01-01'`).run();
  });
  const narrow = createPortico({ PORTICO_PRINCIPAL_BYTES_IN_FLIGHT: String(MIB) });
  const path = '/api/v1/usage/export?from=2026-01-01&to=2026-01-01&by=principal';
  const get = () => narrow.fetch(path, { headers: HEADERS });
  const held: Response[] = [];
  let next = await get();
  for (; next.status === 200 && held.length < 50; next = await get()) held.push(next);
  expect(next.status).toBe(503);
  expect(held.length).toBeGreaterThan(0);
  for (const response of held) expect((await response.text()).split('\r\n')).toHaveLength(ROWS + 2);
  expect((await get()).status).toBe(200);
});
