/** How people learn which tools wait for approval. */
import { expect, it } from 'vitest';
import { findApproval, toHeldText, type Approval } from '../../../cli/src/gateway/approvals.ts';
import type { ServerRecord } from '../../../cli/src/gateway/api.ts';
import { toNotes } from '../../../cli/src/up/settling.ts';

const held = (name: string, change: Partial<Approval> = {}): Approval => ({
  id: `id-${name}`,
  server_id: 's1',
  server_name: 'github',
  kind: 'tool',
  name,
  shown_name: name,
  state: 'pending',
  reason: null,
  approved_fingerprint: null,
  held_fingerprint: 'f'.repeat(64),
  changed_at: '2026-11-09T09:00:00.000Z',
  ...change,
});

it('[CLI-4] [SEC-7] names the first of them, and counts the rest', () => {
  expect(toHeldText([])).toBeUndefined();
  expect(toHeldText([held('', { kind: 'instructions' })])).toBeUndefined();
  expect(toHeldText([held('one')])).toBe('1 tool is held until it is approved: github.one');
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(name => held(name));
  expect(toHeldText(many)).toBe(
    '7 tools are held until they are approved: github.a, github.b, github.c, github.d, github.e and 2 more',
  );
});

it('[CLI-3] [SEC-7] reports them when portico up is ready, after servers with errors', () => {
  const record = (name: string, status: string, problem: string | null) =>
    ({ name, status, last_error: problem }) as ServerRecord;
  const servers = [record('a', 'CONNECTED', null), record('b', 'ERROR', 'gone')];
  expect(toNotes(servers, undefined)).toEqual(['b is ERROR: gone']);
  expect(toNotes(servers, 'x is held')).toEqual(['b is ERROR: gone', 'x is held']);
});

it('[CLI-4] [SEC-7] finds one by its id, its listed name, and its name at the server', () => {
  const odd = held('a\u200bct', { shown_name: 'a⟨U+200B⟩ct' });
  const said = held('', { id: 'id-said', kind: 'instructions' });
  const all = [held('act'), odd, said];
  expect(findApproval('id-act', all)).toBe(all[0]);
  expect(findApproval('github.act', all)).toBe(all[0]);
  expect(findApproval('github.a⟨U+200B⟩ct', all)).toBe(odd);
  expect(findApproval('github.a\u200bct', all)).toBe(odd);
  expect(findApproval('github (instructions)', all)).toBe(said);
  expect(() => findApproval('github.', all)).toThrow(/see portico approvals/);
});
