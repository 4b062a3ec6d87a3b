/** Export of the registry and of client configurations: an import reads it back, and it contains no secret. */
import { describe, expect, it } from 'vitest';
import { register } from '../support/portico.ts';
import {
  actions,
  CANARY,
  deleteServers,
  EXPORT,
  portico,
  serversOf,
  take,
  url,
} from '../support/transfer.ts';

describe('an export', () => {
  it('[REG-6] [SEC-2] of the registry creates equal records in an empty deployment', async () => {
    const secret = {
      value: CANARY,
      origins: ['https://one.example.com', 'https://two.example.com'],
    };
    await portico.api('PUT', '/api/v1/secrets/SHARED', secret);
    const config = (host: string, more: object) => ({
      connection_config: { url: url(host), ...more },
    });
    await register(portico, 'one', {
      ...config('one', { headers: { 'X-Key': '${SHARED}', 'X-Plain': CANARY } }),
      description: 'first',
      auto_connect: false,
      health_check_url: 'https://one.example.com/health',
      health_check: { interval_seconds: 7, failure_threshold: 2 },
    });
    await register(portico, 'two', {
      ...config('two', { auth: { type: 'bearer', token: '${SHARED}' } }),
      transport_type: 'SSE',
      auto_connect: false,
    });
    const exported = await portico.api('GET', EXPORT);
    const text = await exported.text();
    expect(text).not.toContain(CANARY);
    const file = JSON.parse(text) as Record<string, unknown>;
    expect(file).toMatchObject({
      format: 'registry',
      left_out: [{ name: 'one', fields: ['connection_config.headers.X-Plain'] }],
      secrets: ['SHARED'],
    });
    const comparable = async () =>
      (await serversOf()).map(server => ({
        ...server,
        id: '',
        registered_at: '',
        updated_at: '',
        connection_config: {
          ...(server['connection_config'] as object),
          headers: (server['connection_config'] as { headers: Record<string, unknown> }).headers[
            'X-Key'
          ],
        },
      }));
    const before = await comparable();
    await deleteServers();
    expect(actions(await take(file))).toEqual(['one create', 'two create']);
    expect(await comparable()).toEqual(before);
    expect(await (await portico.api('GET', EXPORT)).json()).toEqual({ ...file, left_out: [] });
  });

  it('[REG-6] for a client is ready to paste, and contains no token', async () => {
    const response = await portico.api('GET', `${EXPORT}?format=client&client=vscode`);
    const { text, ...rest } = await response.json<{ text: string; title: string }>();
    expect(rest).toMatchObject({ format: 'client', client: 'vscode' });
    expect(JSON.parse(text)).toMatchObject({
      servers: { portico: { type: 'http', url: 'http://127.0.0.1:8787/mcp?names=underscore' } },
    });
    expect((await portico.api('GET', `${EXPORT}?format=client&client=telnet`)).status).toBe(422);
  });
});
