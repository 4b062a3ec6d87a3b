/** Health endpoints for load balancers and containers, without a credential: whether the gateway runs, and whether it can serve. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { MIGRATION_NAMES } from '../../../src/servers/health/migration-names.ts';
import { createPortico, type Portico } from '../support/portico.ts';

const version = '0.1.0';

async function ask(portico: Portico, path: string) {
  const response = await portico.fetch(path);
  const { status, headers } = response;
  return { status, retryAfter: headers.get('retry-after'), body: await response.json() };
}

/** A database that counts its reads. */
function countedDatabase() {
  const seen = { reads: 0 };
  const counted = new Proxy(env.DB, {
    get(target, name) {
      if (name !== 'prepare' && name !== 'batch' && name !== 'exec')
        return Reflect.get(target, name);
      return (...args: unknown[]) => {
        seen.reads += 1;
        return Reflect.apply(Reflect.get(target, name) as () => unknown, target, args);
      };
    },
  });
  return { seen, DB: counted };
}

const keysOf = (byte: number) =>
  JSON.stringify({ active: 'k1', keys: { k1: btoa(String.fromCharCode(byte).repeat(32)) } });

describe('/health/live', () => {
  it('[OPS-5] always answers the same, and reads nothing', async () => {
    const { seen, DB } = countedDatabase();
    const portico = createPortico({ DB });
    for (let asked = 0; asked < 20; asked++) {
      const answer = await ask(portico, '/health/live');
      expect(answer).toEqual({ status: 200, retryAfter: null, body: { status: 'ok' } });
    }
    expect(seen.reads).toBe(0);
  });
});

describe('/health/ready', () => {
  it('[OPS-5] is ok once storage, migrations and keys are in order', async () => {
    const answer = await ask(createPortico(), '/health/ready');
    expect(answer).toEqual({ status: 200, retryAfter: null, body: { status: 'ok', version } });
  });

  it('[OPS-5] reads once a second at most, whoever asks', async () => {
    const { seen, DB } = countedDatabase();
    const portico = createPortico({ DB });
    await ask(portico, '/health/ready');
    const first = seen.reads;
    for (let asked = 0; asked < 50; asked++) await ask(portico, '/health/ready');
    // A busy machine may take longer than a second for that.
    expect(seen.reads).toBeLessThanOrEqual(first + 3);
  });

  it('[OPS-5] is not ok while the database cannot be read', async () => {
    await env.DB.exec('ALTER TABLE d1_migrations RENAME TO d1_migrations_gone');
    try {
      const answer = await ask(createPortico(), '/health/ready');
      const body = { status: 'storage_unavailable', version };
      expect(answer).toEqual({ status: 503, retryAfter: '1', body });
      // `/health` does not need the database.
      expect((await ask(createPortico(), '/health')).status).toBe(200);
    } finally {
      await env.DB.exec('ALTER TABLE d1_migrations_gone RENAME TO d1_migrations');
    }
    expect((await ask(createPortico(), '/health/ready')).status).toBe(200);
  });

  it('[OPS-5] [OPS-4] is not ok before the migrations that the code knows, and is ok with newer ones', async () => {
    const last = await env.DB.prepare('SELECT * FROM d1_migrations ORDER BY id DESC').first();
    const { id, name } = last as { id: number; name: string };
    await env.DB.prepare('DELETE FROM d1_migrations WHERE id = ?').bind(id).run();
    const answer = await ask(createPortico(), '/health/ready');
    expect(answer.body).toEqual({ status: 'migrations_pending', version });
    const insert = env.DB.prepare('INSERT INTO d1_migrations (name) VALUES (?)');
    await env.DB.batch([insert.bind(name), insert.bind('9999_of_a_newer_version.sql')]);
    const { n } = (await env.DB.prepare('SELECT count(*) AS n FROM d1_migrations').first()) as {
      n: number;
    };
    expect(n).toBe(MIGRATION_NAMES.length + 1);
    expect((await ask(createPortico(), '/health/ready')).status).toBe(200);
  });

  it('[OPS-5] [SEC-1] is not ok with keys that cannot open the stored secrets', async () => {
    const other = () => createPortico({ PORTICO_KEYS: keysOf(9) });
    // Nothing is stored yet.
    expect((await ask(other(), '/health/ready')).status).toBe(200);
    const secret = { value: 'a secret value', origins: ['https://mcp.example.com'] };
    const made = await createPortico().api('PUT', '/api/v1/secrets/PROBED', secret);
    expect(made.status).toBeLessThan(300);
    expect((await ask(other(), '/health/ready')).body).toEqual({ status: 'keys_unfit', version });
    expect((await ask(createPortico(), '/health/ready')).status).toBe(200);
  });

  it('[OPS-5] is not ok once the gateway is stopping', async () => {
    const portico = createPortico({ LOCAL_DRAIN_KEY: 'key' });
    expect((await ask(portico, '/health/ready')).status).toBe(200);
    const headers = { 'portico-drain': 'key' };
    await portico.fetch('/local/drain?ms=0', { method: 'POST', headers });
    expect((await ask(portico, '/health/ready')).body).toEqual({ status: 'stopping', version });
    expect((await ask(portico, '/health/live')).status).toBe(200);
    expect((await ask(portico, '/health')).status).toBe(200);
  });

  it('[OPS-3] begins no change once it is stopping, and is still read', async () => {
    const portico = createPortico({ LOCAL_DRAIN_KEY: 'key' });
    const headers = { 'portico-drain': 'key' };
    await portico.fetch('/local/drain?ms=0', { method: 'POST', headers });
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const refused = await portico.api(method, '/api/v1/principals/none', {});
      expect([method, refused.status]).toEqual([method, 503]);
    }
    expect((await portico.api('GET', '/api/v1/principals')).status).toBe(200);
  });

  it.each(['', 'undefined', 'key'])(
    '[OPS-3] [SEC-4] cannot be stopped without a key (%j)',
    async key => {
      const headers = { 'portico-drain': key };
      for (const settings of [{}, { LOCAL_DRAIN_KEY: '' }]) {
        const portico = createPortico(settings);
        const refused = await portico.fetch('/local/drain?ms=0', { method: 'POST', headers });
        const unknown = await portico.fetch('/local/other?ms=0', { method: 'POST', headers });
        expect({ status: refused.status, body: await refused.text() }).toEqual({
          status: unknown.status,
          body: await unknown.text(),
        });
        expect((await ask(portico, '/health/ready')).status).toBe(200);
      }
    },
  );
});
