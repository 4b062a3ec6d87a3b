/** The form that is generated from a tool's schema: its fields, and the arguments made from what was typed. */
import { describe, expect, it } from 'vitest';
import { toArguments, toFields, toTyped } from '../../../console/src/views/tools/fields.ts';
import { rawMembers } from '../../../src/shared/json/json-spans.ts';

const typedOf = (fields: readonly { name: string; initial: string }[]) =>
  Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));

it('[OPS-1] creates a field of the right kind for each property', () => {
  const fields = toFields({
    type: 'object',
    properties: {
      title: { type: 'string', description: 'What it is called' },
      count: { type: 'integer', default: 3 },
      isOpen: { type: 'boolean' },
      state: { enum: ['open', 'closed'] },
      labels: { type: 'array' },
    },
    required: ['title'],
  });
  expect(fields?.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['title', 'text', true],
    ['count', 'number', false],
    ['isOpen', 'flag', false],
    ['state', 'choice', false],
    ['labels', 'json', false],
  ]);
});

it('[OPS-1] sends what was typed, also for properties with dangerous names', () => {
  const named = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}');
  const fields = toFields({ type: 'object', properties: named }) ?? [];
  const typed = { ...typedOf(fields), ['__proto__']: 'a', constructor: '7' };
  expect(toArguments(fields, typed)).toEqual({ args: '{"__proto__":"a","constructor":7}' });
});

it('[OPS-1] sends numbers with the digits that were typed', () => {
  const properties = { id: { type: 'integer' }, share: { type: 'number' }, ids: { type: 'array' } };
  const fields = toFields({ type: 'object', properties }) ?? [];
  const typed = { id: ' 9007199254740993', share: '0.10', ids: '[9007199254740993]' };
  expect(toArguments(fields, typed)).toEqual({
    args: '{"id":9007199254740993,"share":0.10,"ids":[9007199254740993]}',
  });
});

it('[OPS-1] sends whole numbers as strict servers read them, however they were typed', () => {
  const fields = toFields({ type: 'object', properties: { a: { type: 'integer' } } }) ?? [];
  expect(toArguments(fields, { a: '1.0' })).toEqual({ args: '{"a":1}' });
  expect(toArguments(fields, { a: '1e3' })).toEqual({ args: '{"a":1000}' });
  expect(toArguments(fields, { a: '-20.00E+1 ' })).toEqual({ args: '{"a":-200}' });
});

it.each(['9007199254740990.6', '4.00000000000000000001', '1e-400', '-0', '10e-1', '1e400'])(
  '[OPS-1] sends %s as it was typed: it is no whole number, or not written as one',
  typed => {
    const fields = toFields({ type: 'object', properties: { a: { type: 'number' } } }) ?? [];
    expect(toArguments(fields, { a: typed })).toEqual({ args: `{"a":${typed}}` });
  },
);

it('[OPS-1] reports which field is invalid', () => {
  const fields = toFields({ type: 'object', properties: { count: { type: 'number' } } }) ?? [];
  expect(toArguments(fields, { count: 'many' })).toEqual({
    field: 'count',
    problem: 'is not a number',
  });
});

it.each([null, [], 'text', { properties: 7 }, { properties: { a: null } }])(
  '[OPS-1] accepts an invalid schema: %j',
  schema => {
    const fields = toFields(schema);
    expect(fields === undefined || fields.every(({ kind }) => kind === 'json')).toBe(true);
  },
);

it('[OPS-1] a default can be sent as it is, whatever its kind', () => {
  const properties = {
    title: { type: 'string', default: null },
    count: { type: 'integer', default: null },
    any: { default: 'a' },
    either: { type: ['string', 'null'], default: null },
    text: { type: 'string', default: 'b' },
    list: { type: 'array', default: ['c'] },
  };
  const fields = toFields({ type: 'object', properties }) ?? [];
  expect(toArguments(fields, typedOf(fields))).toEqual({
    args: '{"any":"a","either":null,"text":"b","list":["c"]}',
  });
});

describe('JSON that goes back to the form', () => {
  const properties = JSON.parse(`{
    "title": {"type": "string"}, "id": {"type": "integer"}, "isOpen": {"type": "boolean"},
    "state": {"enum": ["open", "closed"]}, "labels": {"type": "array"}, "__proto__": {"type": "string"}
  }`);
  const fields = toFields({ type: 'object', properties, required: ['title'] }) ?? [];

  it.each([
    '{}',
    '{"title":"a\\nb","id":9007199254740993,"isOpen":false,"state":"open","labels":[1, 2.50]}',
    '{"labels":"text","__proto__":"a"}',
  ])('[OPS-1] is typed there as it is sent: %s', args => {
    const read = toTyped(fields, args);
    const typed = 'typed' in read ? read.typed : {};
    expect(Object.keys(typed)).toHaveLength(fields.length);
    const given = fields.filter(({ name }) => typed[name] !== '');
    const made = toArguments(given, typed);
    expect('args' in made && [...rawMembers(made.args)].toSorted()).toEqual(
      [...rawMembers(args)].toSorted(),
    );
  });

  it.each([
    ['title', '{"title":""}'],
    ['title', '{"title":7}'],
    ['id', '{"id":"7"}'],
    ['isOpen', '{"isOpen":"false"}'],
    ['state', '{"state":"other"}'],
    ['state', '{"title":"a","state":null}'],
    ['more', '{"more":1}'],
    ['arguments', '["a"]'],
    ['arguments', '{"title":'],
  ])('[OPS-1] is kept where the form cannot express %s: %s', (field, args) => {
    expect(toTyped(fields, args)).toMatchObject({ field });
  });
});
