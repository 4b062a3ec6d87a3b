/** The bounds of rules, tokens and toolsets: the largest accepted values, and the first refused ones. */
import { PatternSchema } from '../../../src/shared/util/name-pattern.ts';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { SubjectSchema } from '../../../src/access/policy/rule.ts';
import {
  CreateTokenSchema,
  parseExpiry,
  toTokenView,
} from '../../../src/access/tokens/token-schema.ts';
import { parseBearer, SETUP_TOKEN } from '../../../src/shared/identity/principal.ts';
import {
  CreateToolsetSchema,
  judgeDefinition,
} from '../../../src/access/toolsets/toolset-schema.ts';
import { DefinitionSchema } from '../../../src/access/policy/toolset.ts';

const text = (length: number) => 'x'.repeat(length);
const list = <T>(length: number, item: T) => Array.from({ length }, () => item);
const token = (more: object) => ({ name: 'ci', ...more });
const toolset = (more: object) => ({ name: 'set', include: ['*'], ...more });
const override = (more: object) => toolset({ overrides: [{ server: 's', tool: 't', ...more }] });
const members = (more: object) => toolset({ members: more });

describe('accepted values', () => {
  it.each<[string, z.ZodType, (length: number) => unknown, least: number, most: number]>([
    ['a pattern', PatternSchema, text, 1, 300],
    ['the wildcards of a pattern', PatternSchema, n => `a${'*'.repeat(n)}`, 0, 8],
    ['the principal of a rule', SubjectSchema, n => ({ kind: 'principal', id: text(n) }), 1, 100],
    ['the group of a rule', SubjectSchema, n => ({ kind: 'group', name: text(n) }), 1, 63],
    ['the name of a token', CreateTokenSchema, n => ({ name: text(n) }), 1, 100],
    ['the principal of a token', CreateTokenSchema, n => token({ principal: text(n) }), 1, 100],
    ['a server of a token', CreateTokenSchema, n => token({ servers: [text(n)] }), 1, 100],
    ['the servers of a token', CreateTokenSchema, n => token({ servers: list(n, 's') }), 1, 500],
    ['the tools of a token', CreateTokenSchema, n => token({ tools: list(n, 't') }), 1, 100],
    ['a toolset of a token', CreateTokenSchema, n => token({ toolsets: [text(n)] }), 1, 100],
    ['the toolsets of a token', CreateTokenSchema, n => token({ toolsets: list(n, 't') }), 1, 100],
    ['the name of a toolset', CreateToolsetSchema, n => toolset({ name: text(n) }), 1, 63],
    ['its description', CreateToolsetSchema, n => toolset({ description: text(n) }), 0, 2_000],
    ['what it includes', CreateToolsetSchema, n => toolset({ include: list(n, 's') }), 1, 500],
    ['what it excludes', CreateToolsetSchema, n => toolset({ exclude: list(n, 's') }), 0, 500],
    ['its principals', CreateToolsetSchema, n => members({ principals: list(n, 'p') }), 0, 1_000],
    ['the id of one', CreateToolsetSchema, n => members({ principals: [text(n)] }), 1, 100],
    ['its groups', CreateToolsetSchema, n => members({ groups: list(n, 'g') }), 0, 100],
    [
      'its overrides',
      CreateToolsetSchema,
      n => toolset({ overrides: list(n, { server: 's', tool: 't' }) }),
      0,
      500,
    ],
    ['the server of one', CreateToolsetSchema, n => override({ server: text(n) }), 1, 100],
    ['its tool', CreateToolsetSchema, n => override({ tool: text(n) }), 1, 200],
    ['its name', CreateToolsetSchema, n => override({ name: text(n) }), 1, 64],
    ['its description', CreateToolsetSchema, n => override({ description: text(n) }), 1, 4_000],
  ])('[SEC-4] [ACC-3] %s', (_what, schema, make, least, most) => {
    const isTaken = (length: number) => schema.safeParse(make(length)).success;
    expect([least, most].map(isTaken)).toEqual([true, true]);
    const beyond = least > 0 ? [least - 1, most + 1] : [most + 1];
    expect(beyond.filter(isTaken)).toEqual([]);
  });

  it('[SEC-4] [ACC-4] a definition is measured by its total number of characters', () => {
    const problemsOf = (length: number) => {
      const wanted = { include: ['*'], overrides: [] as object[] };
      const sizeNow = () => JSON.stringify(DefinitionSchema.parse(wanted)).length;
      const add = (chars: number) => {
        const made = {
          server: 's1',
          tool: `t${wanted.overrides.length}`,
          description: text(chars),
        };
        wanted.overrides.push(made);
      };
      while (length - sizeNow() > 5_000) add(4_000);
      add(1);
      const left = length - sizeNow() + 1;
      wanted.overrides.pop();
      if (left > 4_000) add(2_000);
      add(1);
      const last = length - sizeNow() + 1;
      wanted.overrides.pop();
      add(last);
      expect(sizeNow()).toBe(length);
      const given = DefinitionSchema.parse(wanted);
      return judgeDefinition(given, [{ id: 's1', name: 'a' }]).problems;
    };
    expect(problemsOf(131_072)).toEqual([]);
    expect(problemsOf(131_073)).toEqual([
      { field: '(body)', message: 'the definition has more than 131072 characters' },
    ]);
  });

  it('[ACC-1] an expiry within ten years, to the millisecond', () => {
    const now = 1_780_000_000_000;
    const most = now + 3_653 * 86_400_000;
    expect(parseExpiry(new Date(most).toISOString(), now)).toBe(most);
    expect(() => parseExpiry(new Date(most + 1).toISOString(), now)).toThrow(
      expect.objectContaining({ code: 'validation_failed' }),
    );
  });

  it('[ACC-1] a header of 200 characters, but no longer one', () => {
    const value = `portico_${'a'.repeat(43)}`;
    const header = (length: number) => `Bearer${value.padStart(length - 'Bearer'.length)}`;
    expect(parseBearer(header(200))).toBe(value);
    expect(parseBearer(header(201))).toBeUndefined();
  });
});

it('[ACC-1] a token that never expires and was never used shows nulls', () => {
  const view = toTokenView({ ...SETUP_TOKEN, formerExpiresAt: null, madeBy: null }, [], 5);
  expect(view).toMatchObject({ expires_at: null, last_used_at: null, former_expires_at: null });
});
