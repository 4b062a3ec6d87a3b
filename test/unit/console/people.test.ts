/** What the people view sends for what somebody types and chooses. */
import { describe, expect, it } from 'vitest';
import { itemsOf, toDraft } from '../../../console/src/parts/list-draft.ts';
import { toExpiresAt } from '../../../console/src/views/people/expiry.ts';
import { NEW, toCreate, toUpdate } from '../../../console/src/views/people/principal-values.ts';
import { SCOPES, scopesToGive, within } from '../../../console/src/views/people/scopes.ts';
import { ScopeSchema } from '../../../src/shared/identity/principal.ts';

describe('[OPS-1] [ACC-9] the scopes that are offered', () => {
  it('are all for an administrator without limits, and none for anybody else', () => {
    expect(scopesToGive({ scopes: ['admin'], limited: false }).toSorted()).toEqual(
      ScopeSchema.options.toSorted(),
    );
    expect(scopesToGive({ scopes: ['admin'], limited: true })).toEqual([]);
    expect(scopesToGive({ scopes: ['servers:write'], limited: false })).toEqual([]);
  });

  it('are only those that a principal may have; admin includes all', () => {
    expect(within(SCOPES, null)).toEqual(SCOPES);
    expect(within(SCOPES, ['admin'])).toEqual(SCOPES);
    expect(within(SCOPES, ['tools:call', 'tools:read'])).toEqual(['tools:read', 'tools:call']);
    expect(within(SCOPES, [])).toEqual([]);
  });
});

describe('[OPS-1] [ACC-2] a principal', () => {
  it('is sent with typed groups that were not yet added, each group once', () => {
    const groups = { items: ['one'], typed: ' two,one  three ' };
    expect(itemsOf(groups)).toEqual(['one', 'two', 'three']);
    const sent = { name: 'Ada', groups: ['one', 'two', 'three'], scopes: null };
    expect(toCreate({ ...NEW, name: ' Ada ', groups })).toEqual(sent);
  });

  it('is updated only with what changed', () => {
    const before = { ...NEW, name: 'Ada', groups: toDraft(['one']) };
    expect(toUpdate(before, { ...before, groups: { items: ['one'], typed: ' ' } })).toEqual({});
    expect(toUpdate(before, { ...before, groups: toDraft([]) })).toEqual({ groups: [] });
    const bound = { ...before, isBound: true, scopes: ['tools:read' as const] };
    expect(toUpdate(before, bound)).toEqual({ scopes: ['tools:read'] });
    expect(toUpdate(bound, before)).toEqual({ scopes: null });
  });
});

describe('[OPS-1] [ACC-1] the expiry of a token', () => {
  const now = Date.parse('2026-11-25T10:00:00.000Z');

  it('is a number of days from now, never, or the end of a day', () => {
    expect(toExpiresAt('7', '', now)).toBe('2026-12-02T10:00:00.000Z');
    expect(toExpiresAt('never', '', now)).toBeUndefined();
    const end = new Date(2026, 11, 32).toISOString();
    expect(toExpiresAt('day', '2026-12-31', now)).toBe(end);
  });
});
