/** Calls that wait for approval, shown as a form, and the decisions read from the answer. */
import { describe, expect, it } from 'vitest';
import type { CallView } from '../../../src/agents/chat/chat-events.ts';
import { toDecisions, toInputRequests } from '../../../src/mcp/own-tools/approval-form.ts';

const callOf = (id: string, given: Record<string, unknown> | null, name = 'files.write') =>
  ({ id, name, arguments: given, decision: 'waiting', is_error: null }) satisfies CallView;
const pending = [callOf('call_1', { path: 'a' }), callOf('call_2', { path: 'b' })];

const formOf = (calls: CallView[]) =>
  (toInputRequests(calls)['approval'] as { method: string; params: Record<string, unknown> })
    .params;

describe('a form', () => {
  it('[LLM-3] asks for a yes to each call, and assumes none', () => {
    expect(toInputRequests(pending)).toMatchObject({ approval: { method: 'elicitation/create' } });
    expect(formOf(pending)).toMatchObject({
      requestedSchema: {
        type: 'object',
        properties: { call_1: { type: 'boolean', default: false }, call_2: { default: false } },
        required: ['call_1', 'call_2'],
      },
    });
  });

  it('[LLM-3] shows invisible characters, and that something is cut', () => {
    const text = String(
      formOf([callOf('call_1', { to: 'ad\u200bmin\u202e', body: 'x'.repeat(9_000) }, 'a\u200b.b')])[
        'message'
      ],
    );
    expect(text).toContain('call_1: a⟨U+200B⟩.b {"to":"ad⟨U+200B⟩min⟨U+202E⟩"');
    expect(text).toMatch(/… \(\d+ more characters\)$/);
    expect(text.length).toBeLessThan(2_200);
  });
});

describe('the answer of a person', () => {
  const none = undefined;
  it.each([
    [{ action: 'accept', content: { call_1: true, call_2: true } }, [true, true]],
    [{ action: 'accept', content: { call_1: true } }, [true, false]],
    [{ action: 'accept', content: { call_1: 'true', call_2: 1, call_3: true } }, [false, false]],
    [{ action: 'accept', content: {} }, [false, false]],
    [{ action: 'decline' }, [false, false]],
    [{ action: 'decline', content: { call_1: true } }, [false, false]],
    [{ action: 'accept' }, none],
    [{ action: 'cancel', content: { call_1: true } }, none],
    [{}, none],
    ['accept', none],
    [undefined, none],
  ])('[LLM-3] %j is %j', (approval, said) => {
    const decisions = said?.map((approve, i) => ({ call_id: `call_${i + 1}`, approve }));
    expect(toDecisions({ approval }, pending)).toEqual(decisions);
  });

  it('[LLM-3] has no decisions if none of the calls still waits', () => {
    expect(toDecisions({ approval: { action: 'decline' } }, [])).toBeUndefined();
  });

  it('[LLM-3] has no decisions if there was no server request', () => {
    expect(toDecisions(undefined, pending)).toBeUndefined();
    expect(toDecisions({ other: { action: 'accept' } }, pending)).toBeUndefined();
  });
});
