/** JSON within JSON text, nested too deep to walk: it is refused everywhere. */
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
  it('[SEC-9] as the arguments of a call is reported to the model', () => {
    const [call] = toCanonicalCalls([{ id: '1', name: 'a', arguments: `{"a":${deep}}` }]);
    expect(call?.arguments).toBeUndefined();
    expect(call?.problem).toMatch(/nested/);
  });

  it('[SEC-9] as an answer of a model is refused', () => {
    expect(() => parseAs(z.looseObject({}), `{"a":${deep}}`, 'The answer')).toThrow(
      /not valid JSON/,
    );
  });

  it('[SEC-9] in an mcp.json is refused', () => {
    const text = `{"mcpServers":{"a":{"command":"x","env":${deep}}}}`;
    expect(parseMcpJson(text)).toEqual({ problem: 'is not valid JSON' });
  });
});
