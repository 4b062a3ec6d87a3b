/** Which server requests a result may contain: only those that the client's capabilities cover. */
import { describe, expect, it } from 'vitest';
import { withoutUndeclaredInput } from '../../../src/gateway/results/undeclared-input.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';

const elicit = (params?: unknown) => ({ method: 'elicitation/create', params });
const sample = (params?: unknown) => ({ method: 'sampling/createMessage', params });
const ROOTS = { method: 'roots/list' };
const FORM = { elicitation: { form: {} } };
const URL_ONLY = { elicitation: { url: {} } };

/** The missing capabilities; undefined if the result passes. */
function missing(inputRequests: unknown, capabilities: JsonObject): unknown {
  const result = JSON.stringify({ resultType: 'input_required', inputRequests });
  const response = { kind: 'response', result, parsed: {} } as const;
  const made = withoutUndeclaredInput(response, capabilities);
  if (made === response) return undefined;
  if (!('error' in made)) throw new Error('neither the response nor an error');
  expect(JSON.parse(made.error)).toEqual(made.parsed);
  expect(made.kind).toBe('response');
  const { code, message, data } = made.parsed;
  expect([code, message]).toEqual([-32021, expect.any(String)]);
  return (data as JsonObject)['requiredCapabilities'];
}

describe('a server request', () => {
  it.each<[string, unknown, JsonObject]>([
    ['a form', elicit({ mode: 'form' }), FORM],
    ['a form of who names no way', elicit({}), { elicitation: {} }],
    ['a form without params', elicit(), URL_ONLY],
    ['a form with params that are none', elicit('x'), URL_ONLY],
    ['a page', elicit({ mode: 'url' }), URL_ONLY],
    ['a model', sample({}), { sampling: {} }],
    ['a model with tools', sample({ tools: [] }), { sampling: { tools: {} } }],
    ['roots', ROOTS, { roots: {} }],
    ['something nobody knows', { method: 'x/y', params: {} }, {}],
    ['a question without a method', { method: 7 }, {}],
    ['none', null, {}],
    ['a text', 'elicitation/create', {}],
  ])('[MCP-4] for %s passes with the capability', (_name, request, capabilities) => {
    expect(missing({ a: request }, capabilities)).toBeUndefined();
  });

  it.each<[string, unknown, JsonObject, JsonObject]>([
    ['a form', elicit({ mode: 'form' }), {}, FORM],
    ['a form', elicit({}), URL_ONLY, FORM],
    ['a form without params', elicit(), {}, { elicitation: {} }],
    ['a page', elicit({ mode: 'url' }), FORM, URL_ONLY],
    ['a page', elicit({ mode: 'url' }), {}, URL_ONLY],
    ['a page', elicit({ mode: 'url' }), { elicitation: {} }, URL_ONLY],
    ['a page', elicit({ mode: 'url' }), { elicitation: null }, URL_ONLY],
    ['a model', sample({}), FORM, { sampling: {} }],
    ['a model with tools', sample({ tools: [] }), { sampling: {} }, { sampling: { tools: {} } }],
    ['a model with tools', sample({ tools: [] }), {}, { sampling: { tools: {} } }],
    ['roots', { ...ROOTS, params: { tools: [] } }, {}, { roots: {} }],
  ])('[MCP-4] for %s does not pass without it', (_name, request, capabilities, needed) => {
    expect(missing({ a: request }, capabilities)).toEqual(needed);
  });

  it('[MCP-4] among others is refused with all missing capabilities', () => {
    const asked = { a: elicit({}), b: ROOTS, c: sample({}) };
    expect(missing(asked, FORM)).toEqual({ roots: {}, sampling: {} });
  });
});

it.each([undefined, null, [], 'x', {}])('[MCP-4] is not found in %j', inputRequests => {
  expect(missing(inputRequests, {})).toBeUndefined();
});

it('[MCP-4] is not found in a list of them', () => {
  expect(missing([elicit({})], {})).toBeUndefined();
});
