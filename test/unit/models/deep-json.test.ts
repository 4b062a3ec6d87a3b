/** JSON within a text of JSON, nested deeper than anything could walk: it is read nowhere. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toCanonicalCalls } from '../../../src/models/formats/read-call.ts';
import { parseAs } from '../../../src/models/formats/read-json.ts';
import { parseMcpJson } from '../../../src/servers/transfer/mcp-json.ts';

const LEVELS = 100_000;
const DEEP = [
  `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`,
  `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`,
];

describe.each(DEEP)('JSON of 100,000 levels', deep => {
  it('[SEC-9] as the arguments of a call is told to the model', () => {
    const [call] = toCanonicalCalls([{ id: '1', name: 'a', arguments: `{"a":${deep}}` }]);
    expect(call?.arguments).toBeUndefined();
    expect(call?.problem).toMatch(/nested/);
  });

  it('[SEC-9] as an answer of a model is none', () => {
    expect(() => parseAs(z.looseObject({}), `{"a":${deep}}`, 'The answer')).toThrow(
      /not valid JSON/,
    );
  });

  it('[SEC-9] in an mcp.json is no entry', () => {
    const text = `{"mcpServers":{"a":{"command":"x","env":${deep}}}}`;
    expect(parseMcpJson(text)).toEqual({ problem: 'is not valid JSON' });
  });
});
