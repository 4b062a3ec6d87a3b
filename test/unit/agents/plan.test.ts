/** How strictly a plan is parsed: text around it, extra members and duplicates. */
import { describe, expect, it } from 'vitest';
import { MAX_PLAN_CHARS, MAX_PLAN_DEPTH, parsePlan } from '../../../src/agents/ask/plan.ts';

const PLAN = { type: 'call_tool', server: 's', tool: 't', args: { a: ': "{}" \\', b: [{ c: 1 }] } };
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const withArgs = (args: unknown) => JSON.stringify({ ...PLAN, args });

describe('a plan', () => {
  it('[LLM-4] is one JSON object, with or without surrounding white space', () => {
    expect(parsePlan(JSON.stringify(PLAN))).toEqual({ plan: PLAN });
    expect(parsePlan(`\n ${JSON.stringify(PLAN, null, 2)} `)).toEqual({ plan: PLAN });
    const none = { type: 'none', reason: 'no' };
    expect(parsePlan(JSON.stringify(none))).toEqual({ plan: none });
  });

  it.each([
    ['prose before it', `Here: ${JSON.stringify(PLAN)}`],
    ['prose behind it', `${JSON.stringify(PLAN)} ok?`],
    ['a fence', `\`\`\`json\n${JSON.stringify(PLAN)}\n\`\`\``],
    ['two of them', `${JSON.stringify(PLAN)}\n${JSON.stringify(PLAN)}`],
    ['nothing', ''],
    ['NaN', withArgs(1).replace('"args":1', '"args":{"a":NaN}')],
  ])('[LLM-4] is not JSON with %s', (_what, text) => {
    expect(parsePlan(text)).toEqual({ reason: 'plan_not_json' });
  });

  it.each([
    ['a list', JSON.stringify([PLAN])],
    ['an unknown member', JSON.stringify({ ...PLAN, also: 'more' })],
    ['a member that is missing', JSON.stringify({ ...PLAN, args: undefined })],
    ['arguments that are no object', withArgs([1])],
    ['arguments as text', withArgs('{}')],
    ['a member twice', JSON.stringify(PLAN).replace('"tool":"t"', '"tool":"t","tool":"u"')],
    ['an argument twice', withArgs({}).replace('"args":{}', '"args":{"a":1,"a":2}')],
    ['one twice, once escaped', withArgs({}).replace('{}', '{"a":1,"\\u0061":2}')],
    ['a prototype', withArgs({}).replace('{}', '{"__proto__":{"x":1}}')],
    ['a prototype within', withArgs({}).replace('{}', '{"a":[{"__proto__":1}]}')],
    ['arguments that are too deep', withArgs({ a: nested(MAX_PLAN_DEPTH) })],
    ['a number that is too large', withArgs({}).replace('{}', '{"a":[1e999]}')],
    ['another type', JSON.stringify({ ...PLAN, type: 'call_tools' })],
    ['a tool in words that are none', JSON.stringify({ ...PLAN, tool: 7 })],
    ['a reason and a tool', JSON.stringify({ ...PLAN, type: 'none', reason: 'x' })],
    ['null', 'null'],
  ])('[LLM-4] is not strict with %s', (_what, text) => {
    expect(parsePlan(text)).toEqual({ reason: 'plan_not_strict' });
  });

  it('[LLM-4] is bounded in size', () => {
    const room = MAX_PLAN_CHARS - withArgs({ a: '' }).length;
    expect(parsePlan(withArgs({ a: 'x'.repeat(room) }))).toHaveProperty('plan');
    expect(parsePlan(withArgs({ a: 'x'.repeat(room + 1) }))).toEqual({ reason: 'plan_too_large' });
  });
});
