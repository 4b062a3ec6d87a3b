/** Tokens as a request reads them: their expiry, their scopes, when their use is recorded, and under which key they are stored. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { createSnapshots as create, pass, sql, stopTime } from '../support/aged-snapshots.ts';
import { ADMIN, createPortico, createToken } from '../support/portico.ts';

const portico = createPortico();
stopTime();

describe('a token', () => {
  it('[ACC-1] is refused from the moment it expires, and if it is unknown or deleted', async () => {
    const { load, reads } = create({ maxAgeMs: 60_000 });
    const { id, token } = await createToken(portico);
    await sql('UPDATE tokens SET expires_at = ? WHERE id = ?', Date.now() + 2_000, id);
    expect(await load(token)).toBeDefined();
    pass(1_999);
    expect(await load(token)).toBeDefined();
    pass(1);
    expect(await load(token)).toBeUndefined();
    expect(reads).toHaveLength(1);
    const unknown = `portico_${'x'.repeat(43)}`;
    expect(await load(unknown)).toBeUndefined();
    expect(await load(unknown)).toBeUndefined();
    expect(reads).toHaveLength(3);
    const lost = await createToken(portico);
    expect(await load(lost.token)).toBeDefined();
    await sql('DELETE FROM tokens WHERE id = ?', lost.id);
    pass(60_001);
    expect(await load(lost.token)).toBeUndefined();
  });

  it('[ACC-2] does not become admin with or without an admin token in the settings', async () => {
    const { token } = await createToken(portico);
    for (const adminToken of [ADMIN, undefined]) {
      const { load } = create({ adminToken });
      expect([...((await load(token))?.caller.scopes ?? [])]).not.toContain('admin');
      expect((await load(ADMIN))?.caller.tokenId).toBe(adminToken && 'setup-admin');
    }
  });

  it('[ACC-1] has its use recorded every five minutes, except for the configured token', async () => {
    const { load, settle } = create();
    const { id, token } = await createToken(portico);
    const usedAt = () =>
      env.DB.prepare('SELECT last_used_at FROM tokens WHERE id = ?')
        .bind(id)
        .first<number>('last_used_at');
    await load(token);
    expect(await settle()).toBe(1);
    const first = Date.now();
    expect(await usedAt()).toBe(first);
    pass(299_999);
    await load(token);
    expect([await settle(), await usedAt()]).toEqual([0, first]);
    pass(300_000);
    await load(token);
    expect([await settle(), await usedAt()]).toEqual([1, Date.now()]);
    pass(300_000);
    await load(token);
    expect([await settle(), await usedAt()]).toEqual([1, Date.now()]);
    await load(ADMIN);
    expect(await settle()).toBe(0);
  });

  it('[ACC-1] [SEC-1] is moved to the active key when it is used, once', async () => {
    const { id, token } = await createToken(portico);
    const key = btoa('3'.repeat(32));
    const { keys: before } = JSON.parse(env.PORTICO_KEYS ?? '') as { keys: object };
    const ring = createKeyRing(JSON.stringify({ active: 'k9', keys: { ...before, k9: key } }));
    const { load, settle } = create({ keys: ring });
    expect(await load(token)).toBeDefined();
    expect(await settle()).toBe(2);
    const row = env.DB.prepare('SELECT hmac, key_id FROM tokens WHERE id = ?').bind(id);
    const [hmac] = await ring.hmacs('token', token);
    expect(await row.first()).toEqual({ hmac, key_id: 'k9' });
    pass(1_001);
    expect(await load(token)).toBeDefined();
    expect(await settle()).toBe(0);
  });
});
