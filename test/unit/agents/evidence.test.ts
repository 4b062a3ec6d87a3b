/** What counts as evidence, what part of an output a model sees, and which settings bound a request. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ASK_SETTINGS, toAskSettings } from '../../../src/agents/ask/ask-settings.ts';
import { outputTexts, shownOutput, toSummary } from '../../../src/agents/ask/evidence.ts';

const TEXTS = ['The invoice is 120 euros.\nDue on Friday.', 'Paid: no'];
const claims = (...evidence: string[]) =>
  JSON.stringify({ claims: evidence.map(each => ({ text: 'A claim.', evidence: each })) });

describe('evidence', () => {
  it.each(['120 euros', 'The invoice is 120 euros.\nDue', 'Paid: no', ' is 120 '])(
    '[LLM-4] is a literal part of the output: %j',
    evidence => {
      expect(toSummary(claims(evidence), TEXTS)).toEqual({
        claims: [{ text: 'A claim.', evidence }],
        dropped: 0,
      });
    },
  );

  it.each([
    ['another case', 'THE INVOICE'],
    ['other white space', 'euros. Due on'],
    ['two places', 'Friday.Paid: no'],
    ['two blocks', 'Friday.\nPaid'],
    ['a gap', 'The invoice … Friday'],
    ['too little', 'euro'],
    ['nothing', ''],
    ['white space', '      '],
    ['marks only', '......'],
    ['what is not there', 'already paid'],
  ])('[LLM-4] is rejected with %s', (_what, evidence) => {
    expect(toSummary(claims(evidence), TEXTS)).toEqual({ claims: [], dropped: 1 });
  });

  it('[LLM-4] may be short if the output is', () => {
    expect(toSummary(claims('42', '4'), [' 42\n'])?.claims).toEqual([
      { text: 'A claim.', evidence: '42' },
    ]);
  });

  it('[LLM-4] is required of each claim, in one form', () => {
    const [good] = (JSON.parse(claims('120 euros')) as { claims: object[] }).claims;
    for (const odd of [
      'All paid.',
      '[]',
      JSON.stringify({ claims: [{ text: 'x' }] }),
      JSON.stringify({ claims: [good], verdict: 'allowed' }),
      JSON.stringify({ claims: [{ ...good, call: 'wipe' }] }),
    ]) {
      expect(toSummary(odd, TEXTS)).toBeUndefined();
    }
    const many = toSummary(claims(...Array.from({ length: 20 }, () => '120 euros')), TEXTS);
    expect([many?.claims.length, many?.dropped]).toEqual([8, 12]);
  });

  it('[LLM-4] is searched in texts, embedded ones too, or in structured content if there is no text', () => {
    const resource = { type: 'resource', resource: { uri: 'a:b', text: 'inside' } };
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const content = [{ type: 'text', text: 'outside' }, resource, image, 7];
    expect(outputTexts({ content })).toEqual(['outside', 'inside']);
    expect(outputTexts({ content: [image], structuredContent: { a: 1 } })).toEqual(['{"a":1}']);
    expect(outputTexts({ content: 'none' })).toEqual([]);
    expect(shownOutput(['x'.repeat(50_000)])).toHaveLength(20_000);
  });
});

describe('the settings of ask', () => {
  const read = (given: object) => toAskSettings(z.object(ASK_SETTINGS).parse(given));

  it('[LLM-4] bound one call, two questions, tokens and time', () => {
    expect(read({ PORTICO_ASK_TOKENS: '500', PORTICO_ASK_TIMEOUT_MS: '9000' })).toEqual({
      input: { maxChars: 4_000, blocked: [] },
      most: { calls: 1, questions: 2, tokens: 500, elapsedMs: 9_000 },
    });
    expect(read({ PORTICO_ASK_BLOCKED: 'drop * table, ,wire money' }).input.blocked).toEqual([
      'drop * table',
      'wire money',
    ]);
  });

  it.each([
    { PORTICO_ASK_BLOCKED: '*'.repeat(20) },
    { PORTICO_ASK_BLOCKED: 'x'.repeat(201) },
    { PORTICO_ASK_BLOCKED: Array.from({ length: 101 }, (_, i) => `p${i}`).join(',') },
    { PORTICO_ASK_TOKENS: '0' },
    { PORTICO_ASK_TIMEOUT_MS: 'soon' },
  ])('[LLM-4] are refused if they make no sense: %j', given => {
    expect(() => read(given)).toThrow(z.ZodError);
  });
});
