/** The caller: the scopes of its token, and what a token with limits sees and administers. */
import { toCaller, type Caller } from '../../../src/access/policy/caller.ts';
import { describe, expect, it } from 'vitest';
import type { NamedServer } from '../../../src/shared/util/name-pattern.ts';
import {
  administers,
  hasLimits,
  hasScope,
  requireScope,
  requireServerScope,
  SETUP_TOKEN,
} from '../../../src/shared/identity/principal.ts';
import { NOTHING } from '../../../src/access/policy/view.ts';
import { createCaller, OPEN } from '../access/callers.ts';

const github = { id: 'id-1', name: 'GitHub' };
const files = { id: 'id-2', name: 'files' };

describe('a caller', () => {
  it('[ACC-2] has the scopes of its token, and admin includes all', () => {
    const member = createCaller();
    const admin = toCaller(SETUP_TOKEN, OPEN);
    expect([hasScope(member, 'tools:call'), hasScope(member, 'admin')]).toEqual([true, false]);
    expect([hasScope(admin, 'servers:write'), hasScope(admin, 'secrets:write')]).toEqual([
      true,
      true,
    ]);
    expect(() => requireScope(member, 'admin')).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });

  it('[ACC-2] with limits administers nothing beyond them, whatever its scopes', () => {
    const limited = createCaller({ isAdmin: true, servers: ['id-1'] }, ['admin']);
    const refusal = expect.objectContaining({ code: 'forbidden' });
    expect(() => requireScope(limited, 'servers:write')).toThrow(refusal);
    expect(() => requireScope(limited, 'tools:call')).not.toThrow();
    expect(() =>
      requireScope(createCaller({ isAdmin: true }, ['admin']), 'servers:write'),
    ).not.toThrow();
    expect(() => requireServerScope(limited, 'servers:write')).not.toThrow();
    expect([administers(limited, github), administers(limited, files)]).toEqual([true, false]);
    // A part of the gateway itself has no limits.
    const { policy: _none, ...part } = toCaller(SETUP_TOKEN, OPEN);
    expect([hasLimits(part), administers(part, files)]).toEqual([false, true]);
    expect([hasLimits(limited), hasLimits(createCaller())]).toEqual([true, false]);
  });

  it('[ACC-3] sees every server or those of its token', () => {
    const restrictToCaller = createCaller({ servers: ['id-1'] });
    const sees = ({ policy }: Caller, server: NamedServer) => policy.viewOf(server) !== NOTHING;
    expect([sees(restrictToCaller, github), sees(restrictToCaller, files)]).toEqual([true, false]);
    expect(sees(createCaller(), files)).toBe(true);
    expect(sees(createCaller({ servers: [] }), github)).toBe(false);
  });
});
