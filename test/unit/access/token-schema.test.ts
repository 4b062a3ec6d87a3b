/** Tokens in the API: accepted and refused requests, the view, and when a token has expired. */
import { describe, expect, it } from 'vitest';
import {
  CreateTokenSchema,
  isExpired,
  parseExpiry,
  RotateTokenSchema,
  toTokenView,
  type ShownToken,
} from '../../../src/access/tokens/token-schema.ts';

const NOW = 1_780_000_000_000;
const DAY = 86_400_000;
const token: ShownToken = {
  id: 't1',
  principalId: 'p1',
  name: 'ci',
  servers: ['s1', 's2'],
  tools: ['s1.get_*', 'gone.x', '*.list'],
  toolsets: null,
  grantedScopes: ['tools:read', 'admin'],
  scopes: ['tools:read'],
  groups: [],
  createdAt: NOW,
  expiresAt: NOW + DAY,
  lastUsedAt: NOW + 1000,
  audience: null,
  accounts: [],
  formerExpiresAt: NOW + 5000,
  madeBy: null,
};

describe('a view', () => {
  it('[ACC-1] [ACC-2] [SEC-2] shows the facts of a token, without its value or HMAC', () => {
    expect(toTokenView(token, [{ id: 's1', name: 'github' }], NOW)).toEqual({
      id: 't1',
      name: 'ci',
      principal: 'p1',
      servers: ['s1', 's2'],
      tools: ['github.get_*', 'gone.x', '*.list'],
      toolsets: null,
      scopes: ['tools:read', 'admin'],
      effective_scopes: ['tools:read'],
      created_at: '2026-05-28T20:26:40.000Z',
      expires_at: '2026-05-29T20:26:40.000Z',
      is_expired: false,
      last_used_at: '2026-05-28T20:26:41.000Z',
      former_expires_at: '2026-05-28T20:26:45.000Z',
      made_by: null,
    });
  });

  it('[ACC-1] shows no former value after its grace period', () => {
    expect(toTokenView(token, [], NOW + 4999).former_expires_at).not.toBeNull();
    expect(toTokenView(token, [], NOW + 5000).former_expires_at).toBeNull();
  });

  it('[ACC-1] reports a token as expired from the exact millisecond', () => {
    expect(toTokenView(token, [], NOW + DAY - 1).is_expired).toBe(false);
    expect(toTokenView(token, [], NOW + DAY).is_expired).toBe(true);
    expect(isExpired({ expiresAt: null }, Number.MAX_SAFE_INTEGER)).toBe(false);
  });
});

describe('CreateTokenSchema', () => {
  it.each([
    {},
    { name: '' },
    { name: '   ' },
    { name: 'x'.repeat(101) },
    { name: 'ci', scopes: [] },
    { name: 'ci', scopes: ['root'] },
    { name: 'ci', servers: [] },
    { name: 'ci', servers: [''] },
    { name: 'ci', servers: 'all' },
    { name: 'ci', tools: [] },
    { name: 'ci', tools: [''] },
    { name: 'ci', tools: ['*'.repeat(9)] },
    { name: 'ci', toolsets: [] },
    { name: 'ci', principal: '' },
    { name: 'ci', expires_at: 'tomorrow' },
    { name: 'ci', expires_at: '2027-01-01' },
    { name: 'ci', expires_at: 1_800_000_000_000 },
    { name: 'ci', expires_at: null },
    { name: 'ci', token: 'portico_x' },
    { name: 'ci', principal_id: 'p' },
  ])('[ACC-1] [ACC-2] refuses %j', body => {
    expect(CreateTokenSchema.safeParse(body).success).toBe(false);
  });

  it.each([
    { name: 'ci' },
    { name: 'ci', tools: ['github', 'github.get_*', '*.*read*'] },
    { name: 'ci', expires_at: '2027-01-01T00:00:00Z' },
    { name: 'ci', expires_at: '2027-01-01T00:00:00.123+02:00' },
  ])('[ACC-1] accepts %j', body => {
    expect(CreateTokenSchema.parse(body)).toEqual(body);
  });
});

describe('parseExpiry', () => {
  const at = (ms: number) => new Date(ms).toISOString();

  it('[ACC-1] accepts a time in the future, and an absent one as never', () => {
    expect(parseExpiry(undefined, NOW)).toBeNull();
    expect(parseExpiry(at(NOW + 1), NOW)).toBe(NOW + 1);
    expect(parseExpiry(at(NOW + 3_650 * DAY), NOW)).toBe(NOW + 3_650 * DAY);
    expect(parseExpiry('2026-05-28T22:26:41+02:00', NOW)).toBe(NOW + 1000);
  });

  it.each([at(NOW), at(NOW - 1), at(0), at(NOW + 3_660 * DAY), '9999-12-31T23:59:59Z'])(
    '[ACC-1] refuses %s',
    text => {
      expect(() => parseExpiry(text, NOW)).toThrow(
        expect.objectContaining({ code: 'validation_failed' }),
      );
    },
  );
});

describe('RotateTokenSchema', () => {
  it.each([-1, 0.5, 86_401, '60', null])('[ACC-1] refuses a grace of %j', seconds => {
    expect(RotateTokenSchema.safeParse({ grace_seconds: seconds }).success).toBe(false);
  });

  it.each([{}, { grace_seconds: 0 }, { grace_seconds: 86_400 }])('[ACC-1] accepts %j', body => {
    expect(RotateTokenSchema.parse(body)).toEqual(body);
  });
});
