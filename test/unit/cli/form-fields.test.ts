/** The fields of a form at the terminal: what each accepts, what it refuses and the message. */
import { describe, expect, it } from 'vitest';
import { answerQuestions, type Prompter } from '../../../cli/src/call/answer-requests.ts';
import { toFields } from '../../../cli/src/call/form-fields.ts';

const read = (property: object, text: string): unknown => {
  const [field] = toFields({ type: 'object', properties: { it: property } });
  return field?.read(text);
};

describe('a field', () => {
  it.each<[object, string, unknown]>([
    [{ type: 'string' }, 'Ünïcode 🌧', 'Ünïcode 🌧'],
    [{ type: 'string', minLength: 2, maxLength: 2 }, '🌧🌧', '🌧🌧'],
    [{ type: 'string', format: 'email' }, 'a@b.c', 'a@b.c'],
    [{ type: 'string', format: 'uri' }, 'https://a.b/c', 'https://a.b/c'],
    [{ type: 'string', format: 'date' }, '2026-11-23', '2026-11-23'],
    [{ type: 'string', format: 'date-time' }, '2026-11-23T09:00:00Z', '2026-11-23T09:00:00Z'],
    [{ type: 'string', format: 'new-one' }, 'x', 'x'],
    [{ type: 'integer', minimum: 1, maximum: 3 }, '3', 3],
    [{ type: 'number' }, '-0.5', -0.5],
    [{ type: 'boolean' }, 'Yes', true],
    [{ type: 'boolean' }, 'n', false],
    [{ type: 'string', enum: ['a', 'b'] }, '2', 'b'],
    [{ type: 'string', enum: ['2', '1'] }, '2', '2'],
    [{ type: 'string', enum: ['a'], enumNames: ['First'] }, 'First', 'a'],
    [{ type: 'string', oneOf: [{ const: 'a', title: 'First' }] }, '1', 'a'],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, 'b, 1,b', ['b', 'a']],
    [{ type: 'array', items: { anyOf: [{ const: 'a', title: 'First' }] } }, 'First', ['a']],
    [{ type: 'object' }, '{"a":1}', { a: 1 }],
    ['not a schema' as unknown as object, '1', 1],
  ])('[CLI-4] of %j accepts %j', (property, text, value) => {
    expect(read(property, text)).toEqual(value);
  });

  it.each<[object, string, string]>([
    [{ type: 'string', minLength: 3 }, '🌧🌧', 'at least 3 characters'],
    [{ type: 'string', maxLength: 1 }, 'ab', 'at most 1 characters'],
    [{ type: 'string', format: 'email' }, 'ab', 'an email address'],
    [{ type: 'string', format: 'uri' }, 'ab', 'an address with its scheme'],
    [{ type: 'string', format: 'date' }, '23.11.2026', 'a date like 2026-11-23'],
    [{ type: 'string', format: 'date-time' }, '2026-11-23', 'a time like 2026-11-23T09:00:00Z'],
    [{ type: 'integer' }, '1.5', 'a whole number'],
    [{ type: 'integer' }, '9007199254740993', 'a whole number'],
    [{ type: 'integer', minimum: 2 }, '1', 'a whole number from 2'],
    [{ type: 'number', maximum: 2 }, '3', 'a number up to 2'],
    [{ type: 'number' }, '', 'a number'],
    [{ type: 'number' }, 'Infinity', 'a number'],
    [{ type: 'boolean' }, 'maybe', 'y or n'],
    [{ type: 'string', enum: ['a', 'b'] }, '3', 'one of 1 to 2'],
    [{ type: 'string', enum: ['a', 'b'] }, '0', 'one of 1 to 2'],
    [{ type: 'array', minItems: 2, items: { enum: ['a', 'b'] } }, 'a', 'at least 2 of them'],
    [{ type: 'array', maxItems: 1, items: { enum: ['a', 'b'] } }, 'a,b', 'at most 1 of them'],
    [{ type: 'null' }, 'x', 'JSON'],
  ])('[CLI-4] of %j refuses %j', (property, text, problem) => {
    expect(() => read(property, text)).toThrow(new RangeError(problem));
  });

  it('[CLI-4] needs a valid form, and at most a hundred fields are asked for', () => {
    expect([undefined, null, 'x', { properties: [] }].flatMap(toFields)).toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, {}]));
    expect(toFields({ properties: many })).toHaveLength(100);
  });
});

/** A person who types these lines and then leaves. */
function createPerson(...lines: string[]): Prompter & { told: string[] } {
  const told: string[] = [];
  const ask = async (question: string) => {
    told.push(question);
    return lines.shift();
  };
  return {
    told,
    tell: line => void told.push(line),
    ask,
    confirm: ask,
  };
}
const form = (properties: object, required: string[] = []) => ({
  it: {
    method: 'elicitation/create',
    params: { message: 'Say\u200B it\u001B[2J', requestedSchema: { properties, required } },
  },
});
const answer = (requests: unknown, prompter: Prompter) => answerQuestions('t', requests, prompter);

describe('a person', () => {
  it('[CLI-4] [SEC-7] sees hidden characters in the words of a server', async () => {
    const prompter = createPerson();
    await answer(form({ x: { type: 'string', description: '\u202Eevil' } }), prompter);
    for (const hidden of ['\u200B', '\u202E', '\u001B']) {
      expect(prompter.told.join('\n')).not.toContain(hidden);
    }
  });

  it('[CLI-4] must fill required fields, and may skip the others', async () => {
    const fields = { x: { type: 'string' }, y: { type: 'integer' } };
    const prompter = createPerson('', 'a', 'no', '', 'y');
    // Empty text is valid for a text field, but not for an integer.
    expect(await answer(form(fields, ['y']), createPerson('', '', '7', 'y'))).toEqual({
      it: { action: 'accept', content: { y: 7 } },
    });
    expect(await answer(form(fields, ['x']), prompter)).toEqual({
      it: { action: 'accept', content: { x: '' } },
    });
  });

  it.each([
    [['v', 'y'], { action: 'accept', content: { x: 'v' } }],
    [['v', ''], { action: 'decline' }],
    [['v', 'nonsense'], { action: 'decline' }],
    [['v'], { action: 'cancel' }],
    [[], { action: 'cancel' }],
  ])('[CLI-4] who types %j chooses %j', async (lines, decision) => {
    const given = await answer(form({ x: { type: 'string' } }), createPerson(...lines));
    expect(given).toEqual({ it: decision });
  });

  it('[CLI-4] accepts or declines a form without fields', async () => {
    expect(await answer(form({}), createPerson('y'))).toEqual({
      it: { action: 'accept', content: {} },
    });
    expect(await answer(form({}), createPerson(''))).toEqual({ it: { action: 'decline' } });
  });

  it('[CLI-4] is not asked for what only a program can provide', async () => {
    const asked = { a: { method: 'sampling/createMessage', params: {} } };
    await expect(answer(asked, createPerson())).rejects.toThrow('asks for sampling/createMessage');
    expect(await answer('nothing', createPerson())).toEqual({});
  });
});
