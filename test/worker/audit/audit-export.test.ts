/** The export of the audit: it is read while the client takes it, and ends with the rights of its caller. */
import { expect, it } from 'vitest';
import { insertOld, toCall } from '../support/chunks.ts';
import { createPerson } from '../support/call-rows.ts';
import { createPortico } from '../support/portico.ts';

const portico = createPortico();
const MINUTE_MS = 60_000;

it('[SEC-6] [ACC-2] ends when the token of the request is revoked', async () => {
  const { token, principalId } = await createPerson(portico, { scopes: ['tools:read'] });
  const shown = await portico.api('GET', '/api/v1/token', undefined, { token });
  const { id } = await shown.json<{ id: string }>();
  const at = Date.now() - 60 * MINUTE_MS;
  const calls = Array.from({ length: 1_200 }, (_, n) =>
    toCall(at + n, { principalId, tokenId: id }),
  );
  await insertOld(at + MINUTE_MS, calls);
  const start = () => portico.api('GET', '/api/v1/audit/export', undefined, { token });
  expect((await (await start()).text()).split('\n')).toHaveLength(1_201);

  const reader = (await start()).body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  expect(first.trimEnd().split('\n')).toHaveLength(500);
  expect((await portico.api('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204);
  await expect(reader?.read()).rejects.toMatchObject({ code: 'unauthorized' });
});
