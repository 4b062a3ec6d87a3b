/** Writes about access, and their notifications, when another request deletes or changes something in between. */
import { toCaller } from '../../../src/access/policy/caller.ts';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { createPrincipals } from '../../../src/access/principals/principal-service.ts';
import { SETUP_TOKEN } from '../../../src/shared/identity/principal.ts';
import { createRules } from '../../../src/access/rules/rule-service.ts';
import { createTokens } from '../../../src/access/tokens/token-service.ts';
import { MAX_TOOLSETS_CHARS } from '../../../src/access/toolsets/toolset-list-store.ts';
import { createToolsets } from '../../../src/access/toolsets/toolset-service.ts';
import { AdminAudit } from '../../../src/audit/admin-audit.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';

const admin = toCaller(SETUP_TOKEN, { defaultAccess: 'open', rules: [], toolsets: [] });
const RULE = { effect: 'deny', subject: { kind: 'everyone' }, server: '*', tool: '*' } as const;
const NOTHING = { read_only: false, description: '' };

/** Services over a database in which something else happens before some statements. */
function create() {
  let told = 0;
  /** The action before statements with this text, or before each write. */
  let others: { before: string | undefined; act: () => Promise<unknown> } | undefined;
  const happen = async (text: string | undefined) => {
    if (others && others.before === text) await others.act();
  };
  const db = {
    prepare(sql: string) {
      const statement = env.DB.prepare(sql);
      if (others?.before === undefined || !sql.includes(others.before)) return statement;
      const { before } = others;
      const bind = (...values: unknown[]) => ({
        first: () => happen(before).then(() => statement.bind(...values).first()),
      });
      return { bind };
    },
    async batch(statements: D1PreparedStatement[]) {
      // A write includes the audit row of its change.
      if (statements.length > 1) await happen(undefined);
      return env.DB.batch(statements);
    },
  } as unknown as D1Database;
  const onAccessChanged = () => {
    told += 1;
    return Promise.resolve();
  };
  const keys = createKeyRing(env.PORTICO_KEYS);
  const ports = { db, adminAudit: new AdminAudit(db), onAccessChanged, keys };
  return {
    principals: createPrincipals(ports),
    rules: createRules(ports),
    tokens: createTokens(ports),
    toolsets: createToolsets(ports),
    /** Runs `act` before each write, or before statements with the text `before`; without arguments, stops that. */
    meanwhile(act?: () => Promise<unknown>, before?: string) {
      others = act && { before, act };
    },
    /** How many notifications of changed access there were since the last call. */
    told: () => [told, (told = 0)][0],
  };
}

const sql = (text: string, ...values: unknown[]) =>
  env.DB.prepare(text)
    .bind(...values)
    .run();

/** The outcomes of changes to a record, in order. */
async function outcomes(subject: string) {
  const { results } = await env.DB.prepare(
    'SELECT action, outcome, code FROM audit_events WHERE subject = ? ORDER BY at, shard, seq',
  )
    .bind(subject)
    .all<Record<string, string>>();
  return results.map(({ action, outcome, code }) => [action, outcome, code]);
}

const NOBODY = { groups: [], scopes: null };
const TOOLSET = { description: '', include: ['*'], exclude: [], overrides: [] };

describe('what another request deletes first', () => {
  it('[ACC-2] [SEC-6] is not found: a principal, without a notification', async () => {
    const { principals, meanwhile, told } = create();
    const { id } = await principals.create(admin, { name: 'Ada', ...NOBODY }, []);
    meanwhile(() => sql('DELETE FROM principals WHERE id = ?', id));
    await expect(principals.delete(admin, id)).rejects.toMatchObject({ code: 'not_found' });
    expect(told()).toBe(0);
    expect((await outcomes(id)).slice(1)).toEqual([['principal.delete', 'failed', 'not_found']]);
  });

  it('[ACC-3] [SEC-6] is not found: a rule, without a notification', async () => {
    const { rules, meanwhile, told } = create();
    const { id } = await rules.create(admin, { ...RULE, ...NOTHING }, []);
    expect(told()).toBe(1);
    meanwhile(() => sql('DELETE FROM access_rules WHERE id = ?', id));
    await expect(rules.delete(admin, id)).rejects.toMatchObject({ code: 'not_found' });
    expect(told()).toBe(0);
    expect((await outcomes(id)).slice(1)).toEqual([['rule.delete', 'failed', 'not_found']]);
  });

  it('[ACC-4] [SEC-6] is not found: a toolset, without a notification', async () => {
    const { toolsets, meanwhile, told } = create();
    const { id } = await toolsets.create(admin, { name: 'short-lived', ...TOOLSET }, []);
    expect(told()).toBe(1);
    meanwhile(() => sql('DELETE FROM toolsets WHERE id = ?', id));
    await expect(toolsets.delete(admin, id)).rejects.toMatchObject({ code: 'not_found' });
    expect(told()).toBe(0);
    expect((await outcomes(id)).slice(1)).toEqual([['toolset.delete', 'failed', 'not_found']]);
  });

  it('[ACC-1] [SEC-6] is not found: a token, when it is rotated', async () => {
    const { tokens, meanwhile, told } = create();
    const { token } = await tokens.create(admin, { name: 'lost' }, []);
    meanwhile(() => sql('DELETE FROM tokens WHERE id = ?', token.id), 'SELECT hmac, key_id');
    const rotating = tokens.rotate(admin, token.id, 0);
    await expect(rotating).rejects.toMatchObject({ code: 'not_found' });
    expect(told()).toBe(0);
    meanwhile();
    await expect(tokens.delete(admin, token.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(told()).toBe(0);
  });

  it('[ACC-1] [ACC-2] gets no token: a principal', async () => {
    const { principals, tokens, meanwhile } = create();
    const { id } = await principals.create(admin, { name: 'Ada', ...NOBODY }, []);
    meanwhile(() => sql('DELETE FROM principals WHERE id = ?', id));
    const made = tokens.create(admin, { name: 'late', principal: id }, []);
    await expect(made).rejects.toMatchObject({ code: 'validation_failed' });
    const rows = env.DB.prepare("SELECT outcome FROM audit_events WHERE action = 'token.create'");
    const { results } = await rows.all<{ outcome: string }>();
    expect(results.at(-1)?.outcome).toBe('failed');
  });

  it('[ACC-3] gets no rule: a principal, and the response names the field', async () => {
    const { principals, rules, meanwhile, told } = create();
    const { id } = await principals.create(admin, { name: 'Ada', ...NOBODY }, []);
    meanwhile(() => sql('DELETE FROM principals WHERE id = ?', id));
    const subject = { kind: 'principal', id } as const;
    const made = rules.create(admin, { ...RULE, ...NOTHING, subject }, []);
    await expect(made).rejects.toMatchObject({ code: 'validation_failed' });
    expect(told()).toBe(0);
  });
});

describe('what another request changes first', () => {
  it('[ACC-1] lets a token be rotated on top of it, five times at most', async () => {
    const { tokens, meanwhile, told } = create();
    const { token } = await tokens.create(admin, { name: 'crowded' }, []);
    let left = 4;
    const change = () => {
      left -= 1;
      if (left < 0) return Promise.resolve();
      return sql('UPDATE tokens SET hmac = ? WHERE id = ?', `other-${left}`, token.id);
    };
    meanwhile(change);
    const { value } = await tokens.rotate(admin, token.id, 0);
    const [hmac] = await createKeyRing(env.PORTICO_KEYS).hmacs('token', value);
    const stored = env.DB.prepare('SELECT hmac FROM tokens WHERE id = ?').bind(token.id);
    expect(await stored.first('hmac')).toBe(hmac);
    expect([left, told()]).toEqual([-1, 1]);
    left = 5;
    const rotating = tokens.rotate(admin, token.id, 0);
    await expect(rotating).rejects.toMatchObject({ code: 'busy' });
    expect([left, told()]).toEqual([0, 0]);
  });

  it('[ACC-4] takes a name from a toolset that is created at the same time', async () => {
    const { toolsets, meanwhile, told } = create();
    const { id } = await toolsets.create(admin, { name: 'first', ...TOOLSET }, []);
    expect(told()).toBe(1);
    meanwhile(() => sql("UPDATE toolsets SET name = 'Wanted' WHERE id = ?", id));
    const taken = { code: 'conflict', message: 'A toolset named wanted exists already' };
    const made = toolsets.create(admin, { name: 'wanted', ...TOOLSET }, []);
    await expect(made).rejects.toMatchObject(taken);
    expect(told()).toBe(0);
  });
});

describe('access', () => {
  it('[ACC-2] [ACC-3] [ACC-4] is reported as changed after each write that may change it', async () => {
    const { principals, rules, tokens, toolsets, told } = create();
    const principal = await principals.create(admin, { name: 'Ada', ...NOBODY }, []);
    expect(told()).toBe(0);
    await principals.update(admin, principal.id, { groups: ['x'] }, []);
    expect(told()).toBe(1);
    const { token } = await tokens.create(admin, { name: 't', principal: principal.id }, []);
    expect(told()).toBe(0);
    await tokens.rotate(admin, token.id, 1_000);
    expect(told()).toBe(1);
    await tokens.delete(admin, token.id);
    expect(told()).toBe(1);
    await principals.delete(admin, principal.id);
    expect(told()).toBe(1);
    const rule = await rules.create(admin, { ...RULE, ...NOTHING }, []);
    await rules.update(admin, rule.id, { tool: 'x' }, []);
    expect(told()).toBe(2);
    await rules.delete(admin, rule.id);
    expect(told()).toBe(1);
    const toolset = await toolsets.create(admin, { name: 'telling', ...TOOLSET }, []);
    await toolsets.update(admin, toolset.id, { description: 'x' }, []);
    expect(told()).toBe(2);
    await toolsets.delete(admin, toolset.id);
    expect(told()).toBe(1);
  });
});

describe('a rule', () => {
  it('[ACC-3] keeps the values of its creation and gets those of its edits', async () => {
    const forge = { id: crypto.randomUUID(), name: 'forge' };
    const { rules } = create();
    const { id } = await rules.create(admin, { ...RULE, ...NOTHING, read_only: true }, [forge]);
    expect(await rules.get(admin, id)).toMatchObject({ server: '*', read_only: true });
    await rules.update(admin, id, { server: 'Forge' }, [forge]);
    expect(await rules.get(admin, id)).toMatchObject({ server: forge.id, read_only: true });
    await rules.update(admin, id, { read_only: false }, [forge]);
    expect(await rules.get(admin, id)).toMatchObject({ server: forge.id, read_only: false });
    await rules.update(admin, id, { effect: 'allow' }, [forge]);
    expect(await rules.get(admin, id)).toMatchObject({ read_only: false, effect: 'allow' });
  });

  it('[ACC-3] [SEC-6] cannot be edited for a principal that is deleted meanwhile', async () => {
    const { principals, rules, meanwhile } = create();
    const { id: ada } = await principals.create(admin, { name: 'Ada', ...NOBODY }, []);
    const { id } = await rules.create(admin, { ...RULE, ...NOTHING }, []);
    meanwhile(() => sql('DELETE FROM principals WHERE id = ?', ada));
    const edited = rules.update(admin, id, { subject: { kind: 'principal', id: ada } }, []);
    await expect(edited).rejects.toMatchObject({ code: 'validation_failed' });
    expect((await outcomes(id)).slice(1)).toEqual([['rule.update', 'failed', 'validation_failed']]);
  });
});

describe('a toolset', () => {
  it('[ACC-4] keeps deleted members, and accepts none that never existed', async () => {
    const { principals, toolsets } = create();
    const { id: gone } = await principals.create(admin, { name: 'Ada', ...NOBODY }, []);
    const { id: there } = await principals.create(admin, { name: 'Bob', ...NOBODY }, []);
    const members = { principals: [gone], groups: ['x'] };
    const { id } = await toolsets.create(admin, { name: 'ours', ...TOOLSET, members }, []);
    await principals.delete(admin, gone);
    const grown = { principals: [gone, there], groups: [] };
    const edited = await toolsets.update(admin, id, { members: grown }, []);
    expect(edited.definition).toEqual({
      include: ['*'],
      exclude: [],
      overrides: [],
      members: grown,
    });
    const bad = { principals: [there, 'nobody'], groups: [] };
    await expect(toolsets.update(admin, id, { members: bad }, [])).rejects.toMatchObject({
      code: 'validation_failed',
      extras: {
        fields: [{ field: 'members.principals', message: 'there is no principal nobody' }],
      },
    });
    const styled = await toolsets.update(admin, id, { name_style: 'colon', tools: 'search' }, []);
    expect(styled.definition).toMatchObject({
      name_style: 'colon',
      tools: 'search',
      members: grown,
    });
    const later = await toolsets.update(admin, id, { description: 'x' }, []);
    expect(later.definition).toEqual(styled.definition);
  });

  it('[ACC-4] [SEC-6] is recorded in the audit with its name and its edited fields, in order', async () => {
    const { toolsets } = create();
    const { id } = await toolsets.create(admin, { name: 'noted', ...TOOLSET }, []);
    await toolsets.update(admin, id, { include: ['*'], description: 'x', exclude: [] }, []);
    const row = env.DB.prepare(
      "SELECT detail FROM audit_events WHERE subject = ? AND action = 'toolset.update'",
    );
    expect(JSON.parse((await row.bind(id).first('detail')) ?? '')).toEqual({
      name: 'noted',
      fields: ['description', 'exclude', 'include'],
    });
  });

  it('[ACC-4] [SEC-4] is accepted while all definitions together fit their bound of characters, and not one more', async () => {
    const { toolsets } = create();
    // No value of the database has more than two million bytes.
    const fillers = ['filler-1', 'filler-2', 'filler-3'];
    for (const name of fillers) await toolsets.create(admin, { name, ...TOOLSET }, []);
    const used = 'SELECT sum(length(definition)) AS used FROM toolsets';
    const chars = (await env.DB.prepare(used).first<number>('used')) ?? 0;
    const own = JSON.stringify({ include: ['*'], exclude: [], overrides: [] }).length;
    const fill = 'UPDATE toolsets SET definition = definition || ? WHERE name = ?';
    const left = MAX_TOOLSETS_CHARS - chars - own;
    const each = [1_500_000, 1_500_000, left - 3_000_000];
    for (const [i, name] of fillers.entries()) await sql(fill, ' '.repeat(each[i] ?? 0), name);
    const last = await toolsets.create(admin, { name: 'last', ...TOOLSET }, []);
    const edited = await toolsets.update(admin, last.id, { description: 'x' }, []);
    expect(edited.revision).toBe(2);
    const full = { code: 'conflict', message: expect.stringContaining('at most') as string };
    const larger = { include: ['*', 'x*'] };
    await expect(toolsets.update(admin, last.id, larger, [])).rejects.toMatchObject(full);
    await expect(
      toolsets.create(admin, { name: 'one-more', ...TOOLSET }, []),
    ).rejects.toMatchObject(full);
    expect(await outcomes(last.id)).toContainEqual(['toolset.update', 'failed', 'conflict']);
  });
});
