/** `portico stdio` in front of a gateway that dies and comes back: the host stays connected, and gets an error for each failed call. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findFreePort, startFixture, until } from '../../fixtures/start-fixture.ts';
import { makeToken, startGateway, TRUSTED } from '../support/gateway.ts';
import { hosts } from '../support/stdio-clients.ts';

const SOON_MS = 60_000;

it.each(['SDK 1.x', 'SDK 2.x auto'])(
  '[CLI-2] a host with the %s continues after a restart',
  async name => {
    const data = await mkdtemp(join(tmpdir(), 'portico-restart-'));
    // A restarted gateway listens to its servers again from their next check cycle on.
    const env = { PORTICO_DISCOVERY_INTERVAL_MS: '1000' };
    const options = { data, port: await findFreePort(), adminToken: makeToken(), env };
    const upstream = await startFixture('conformance-legacy');
    const before = await startGateway(options);
    const { id } = await before.register('server', `${upstream.origin}/mcp`, TRUSTED);
    const host = await hosts[name]?.(before.origin, before.adminToken);
    if (!host) throw new Error(`there is no ${name}`);
    const call = () => host.call('server.test_simple_text');
    expect(await call()).toMatchObject({ content: [{ type: 'text' }] });

    await before.kill();
    await until('nobody listens any more', SOON_MS, () =>
      fetch(before.origin).then(
        () => undefined,
        () => true,
      ),
    );
    expect(await call().catch(String)).toMatch(/cannot be reached/);

    const after = await startGateway(options);
    await after.waitFor(id, 'CONNECTED', SOON_MS);
    expect(await call()).toMatchObject({ content: [{ type: 'text' }] });
    if (host.era === 'legacy') {
      const told = host.changes();
      const body = { name: 'server.test_trigger_tool_change', arguments: {} };
      await until('the host hears of changes again', SOON_MS, async () => {
        await after.api('POST', '/api/v1/tools/call', body);
        return host.changes() > told ? true : undefined;
      });
    }
    await host.close();
    await after.stop();
    await upstream.stop();
    await rm(data, { recursive: true, force: true });
  },
);
