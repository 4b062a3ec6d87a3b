/** What the people view sends for what somebody types about a provider. */
import { describe, expect, it } from 'vitest';
import {
  findBadLine,
  GITHUB,
  NEW,
  toCreate,
  toUpdate,
  toValues,
} from '../../../console/src/views/people/provider-values.ts';
import { CreateProviderSchema } from '../../../src/sign-in/providers/providers-schema.ts';

const typed = {
  ...NEW,
  name: ' Acme ',
  issuer: 'https://login.example.com',
  client_id: 'portico',
  client_secret: 'ACME_SIGN_IN',
  groups_claim: 'groups',
  group_map: 'CN=Platform Team = platform\n\n Finance=finance ',
  required_claims: 'groups = Employees\ngroups = CN=Guests\nhd = acme.com',
  takes_assertions: true,
};

describe('[OPS-1] [ACC-7] a provider', () => {
  it('is sent in the form of the API, split at the last or the first = of a line', () => {
    const sent = CreateProviderSchema.parse(toCreate(typed));
    expect(sent).toMatchObject({
      name: 'Acme',
      client_secret: 'ACME_SIGN_IN',
      group_map: { 'CN=Platform Team': 'platform', Finance: 'finance' },
      required_claims: { groups: ['Employees', 'CN=Guests'], hd: ['acme.com'] },
      takes_assertions: true,
      max_age_seconds: 604_800,
    });
  });

  it('of GitHub has the issuer of GitHub, and takes no assertions', () => {
    expect(toCreate({ ...typed, kind: 'github' })).toMatchObject({
      issuer: GITHUB,
      takes_assertions: false,
    });
  });

  it('of Cloudflare Access has no secret and no scopes, whatever was typed for another kind', () => {
    expect(toCreate({ ...typed, kind: 'access' })).toMatchObject({
      client_secret: null,
      scopes: [],
      takes_assertions: false,
    });
  });

  it('is updated only with what changed, and is read back unchanged', () => {
    const stamp = { id: 'x', revision: 1, created_at: '', updated_at: '' };
    const shown = { ...stamp, ...CreateProviderSchema.parse(toCreate(typed)) };
    const before = toValues(shown);
    expect(toUpdate(before, before)).toEqual({});
    expect(toCreate(before)).toEqual(toCreate(typed));
    const after = { ...before, client_secret: '', group_map: '' };
    expect(toUpdate(before, after)).toEqual({ client_secret: null, group_map: {} });
  });

  it.each([
    ['a = b\nc', 'c'],
    ['= b', 'b'],
    ['a =', 'a'],
  ])('has no incomplete line %j', (text, part) => {
    expect(findBadLine(text, 'first')).toContain(part);
    expect(findBadLine(text, 'last')).toContain(part);
    expect(findBadLine('a = b', 'last')).toBeUndefined();
  });
});
