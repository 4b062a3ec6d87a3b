/**
 * The schemas of fifteen public MCP servers' tools, as ask checks arguments against them: compared with another validator, every valid
 * value is accepted and every invalid one refused. The values are generated from the schemas.
 */
import type { JsonSchemaType } from '@modelcontextprotocol/sdk/validation';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { checkSchema } from '../../../src/agents/ask/schema-check.ts';
import { crowdOf, listDirectly } from '../support/crowd.ts';
import { spoiledFrom, valueOf } from '../support/schema-values.ts';

/** The step limit of a check. */
const STEPS = 20_000;
/** Placeholder keys that no service accepts: without a key some servers list nothing. */
const KEYS = {
  SLACK_BOT_TOKEN: 'none',
  SLACK_TEAM_ID: 'none',
  BRAVE_API_KEY: 'none',
  GITLAB_PERSONAL_ACCESS_TOKEN: 'none',
  GOOGLE_MAPS_API_KEY: 'none',
};
const NOBODY = 'http://127.0.0.1:9';

let folder: string;
const listed = new Map<string, Tool[]>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-schemas-'));
  const { missing: _missing, ...programs } = crowdOf(folder);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    DESKTOP_COMMANDER_DISABLE_TELEMETRY: '1',
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: NOBODY,
    HTTPS_PROXY: NOBODY,
    ...KEYS,
  };
  for (const [name, program] of Object.entries(programs)) {
    listed.set(name, await listDirectly(program, environment));
  }
});

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

it('[LLM-4] judges arguments for the tools of fifteen servers as another validator does', () => {
  // Ajv warns of formats that it does not know.
  vi.spyOn(console, 'warn').mockReturnValue();
  const judge = new AjvJsonSchemaValidator();
  const counts = { tools: 0, fit: 0, differ: 0 };
  for (const [server, tools] of listed) {
    for (const { name, inputSchema } of tools) {
      const validate = judge.getValidator(inputSchema as JsonSchemaType);
      const whole = valueOf(inputSchema, inputSchema, false);
      const least = valueOf(inputSchema, inputSchema, true);
      // Values generated as valid are valid.
      expect({ server, name, whole: validate(whole).valid, least: validate(least).valid }).toEqual({
        server,
        name,
        whole: true,
        least: true,
      });
      for (const value of [whole, least, ...spoiledFrom(whole)]) {
        const expected = validate(value).valid ? 'fits' : 'differs';
        const checked = checkSchema(inputSchema, value, STEPS);
        expect({ server, name, value, fit: checked.fit }).toEqual({
          server,
          name,
          value,
          fit: expected,
        });
        counts[expected === 'fits' ? 'fit' : 'differ'] += 1;
      }
      counts.tools += 1;
    }
  }
  expect(listed.size).toBe(15);
  expect(counts.tools).toBeGreaterThan(140);
  expect(counts.differ).toBeGreaterThan(300);
});
