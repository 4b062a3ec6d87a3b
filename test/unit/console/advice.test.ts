/** The console's advice for a server whose check failed. */
import { describe, expect, it } from 'vitest';
import { adviceFor } from '../../../console/src/views/servers/advice.ts';
import { rebase } from '../../../console/src/parts/rebase.ts';
import { NEW, toUpdate } from '../../../console/src/views/servers/form-values.ts';
import { ERROR_CODES } from '../../../src/shared/errors/table.ts';

const server = { status: 'ERROR', accounts: 'shared', transport_type: 'HTTP' } as const;
const other = adviceFor({ ...server, last_error: 'no_such_code: text' });
/** Codes of single calls, never of a check. */
const OF_CALLS = new Set(['upstream_needs_input', 'upstream_no_room']);

describe('[OPS-1] the advice', () => {
  it.each(ERROR_CODES.filter(code => code.startsWith('upstream_') && !OF_CALLS.has(code)))(
    'has its own words for %s',
    code => {
      const advice = adviceFor({ ...server, last_error: `${code}: text` });
      expect(advice).toBeDefined();
      expect(advice).not.toEqual(other);
    },
  );

  it('sends somebody to the machine of a program, not to an address', () => {
    const last_error = 'upstream_unreachable: Its connector is not connected';
    const advice = adviceFor({ ...server, transport_type: 'STDIO', last_error });
    expect(advice?.todo).toMatch(/^Run portico connect on its machine/);
    expect(adviceFor({ ...server, last_error })?.todo).toMatch(/the host and the port/);
  });

  it('is absent if nothing is wrong', () => {
    expect(adviceFor({ ...server, status: 'CONNECTED', last_error: null })).toBeUndefined();
  });
});

describe('[OPS-1] an edit', () => {
  const kept = { ...NEW, credential: 'keep' as const };
  const typed = { ...kept, name: 'mine' };

  it('sends only what changed', () => {
    expect(toUpdate(kept, typed)).toEqual({ name: 'mine' });
  });

  it('keeps typed values over those of others, and takes their other changes', () => {
    const now = { ...kept, name: 'theirs', description: 'theirs' };
    const { values, theirs } = rebase(kept, typed, now);
    expect(values).toMatchObject({ name: 'mine', description: 'theirs' });
    expect(theirs).toEqual(['name', 'description']);
  });
});
