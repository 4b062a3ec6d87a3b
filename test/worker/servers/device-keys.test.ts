/** Device tokens are moved to the active key by the requests that carry them. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import {
  findConnectorByHmac,
  moveConnector,
} from '../../../src/servers/connectors/connector-store.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { advertise } from '../support/connected-program.ts';
import { enrol } from '../support/fake-machine.ts';
import { createPortico } from '../support/portico.ts';

const portico = createPortico();

it('[CLI-1] [SEC-1] a token that is rotated stays gone, also where a request moves it just then', async () => {
  const { id, token } = await enrol(portico, 'moved');
  await env.DB.prepare("UPDATE connectors SET key_id = 'former' WHERE id = ?").bind(id).run();
  const keys = createKeyRing(env.PORTICO_KEYS);
  const hmacs = await keys.hmacs('device', token);
  const found = await findConnectorByHmac(env.DB, hmacs);
  if (!found) throw new Error('There is no such connector');
  const answer = await portico.api('POST', `/api/v1/connectors/${id}/rotate`, {});
  const made = await answer.json<{ token: string }>();
  await moveConnector(env.DB, found, hmacs[0] ?? '', keys.active);
  expect((await advertise(portico, token)).status).toBe(401);
  expect((await advertise(portico, made.token)).status).toBe(200);
});
