/** Parsing of configuration files: each mistake is reported with its line, and references are checked against what exists. */
import { describe, expect, it } from 'vitest';
import { checkReferences, NOTHING } from '../../../cli/src/configuration/check-references.ts';
import { readConfiguration } from '../../../cli/src/configuration/read-file.ts';
import { readValues } from '../../../cli/src/configuration/read-values.ts';
import { ConfigurationSchema, toJsonSchema } from '../../../src/api/configuration-file.ts';

const told = (text: string) =>
  readConfiguration(text).problems.map(({ line, message }) => `${line}: ${message}`);

describe('a file', () => {
  it('[OPS-6] may be empty, JSON, or YAML with aliases', () => {
    expect(told('')).toEqual([]);
    expect(told('{"owner": "me", "connectors": {"box": {}}}')).toEqual([]);
    const { configuration } = readConfiguration(
      'principals:\n  a: &staff { groups: [staff] }\n  b: *staff\n',
    );
    expect(configuration?.principals?.['b']).toEqual({ groups: ['staff'], scopes: null });
    expect(configuration?.owner).toBe('portico');
  });

  it.each([
    ['no YAML', 'a: [', /^1: /],
    ['one key twice', 'owner: a\nowner: b', '2: Map keys must be unique'],
    ['two documents', 'owner: a\n---\nowner: b', /document/],
    ['a field that is none', 'owner: a\nserver: {}', '2: server: unknown field'],
    [
      'a field of a record that is none',
      'connectors:\n  a:\n    x: 1',
      '3: connectors.a.x: unknown field',
    ],
    ['a list for a section', 'rules:\n  - a', /^1: rules: /],
    ['a name that is none', 'toolsets:\n  a/b: {include: [x]}', /^2: toolsets\.a\/b: use 1 to 63 /],
    ['a value in place of a reference', secretOf('abc'), /^3: secrets\.KEY\.value: write where/],
    [
      'a value in a header',
      'servers:\n  a:\n    transport_type: HTTP\n    connection_config:\n      url: https://a\n      headers:\n        X-Y: abc',
      /^7: servers\.a\.connection_config\.headers\.X-Y: the file cannot contain a value/,
    ],
    [
      'a value in auth',
      'servers:\n  a:\n    transport_type: HTTP\n    connection_config:\n      url: https://a\n      auth:\n        type: bearer\n        token: abc',
      /^8: servers\.a\.connection_config\.auth\.token: the file cannot contain a value/,
    ],
    [
      'a rule without an effect',
      'rules:\n  a:\n    subject: { kind: everyone }',
      /^2: rules\.a\.effect/,
    ],
    [
      'a budget of everybody',
      'budgets:\n  a:\n    subject: { kind: everyone }\n    calls_per_day: 5',
      '3: budgets.a.subject.kind: use group or principal',
    ],
    [
      'an entry that is not exact enough',
      'ask_allowlist:\n  a:\n    server: "*"\n    tool: x\n    side_effects: true',
      '5: ask_allowlist.a.side_effects: name one server and one tool, without "*"',
    ],
  ])('[OPS-6] with %s is reported with its line', (_what, text, problem) => {
    expect(told(text).join('\n')).toEqual(expect.stringMatching(problem));
  });

  it('[OPS-6] with many aliases of aliases is refused', () => {
    const bomb = ['a0: &a0 [x, x]'];
    for (let at = 1; at < 30; at += 1) bomb.push(`a${at}: &a${at} [*a${at - 1}, *a${at - 1}]`);
    expect(told(bomb.join('\n'))).toEqual(['1: has too many aliases']);
  });
});

function secretOf(value: string): string {
  return `secrets:\n  KEY:\n    value: ${value}\n    origins: [https://a.example.com]`;
}

describe('values of secrets', () => {
  const problemsOf = (value: string, env: Record<string, string>) => {
    const { configuration, lineOf } = readConfiguration(secretOf(value));
    if (!configuration) throw new Error('not read');
    const { valueOf, problems } = readValues(configuration, 'portico.yaml', env, lineOf);
    return [...valueOf.values(), ...problems.map(({ line, message }) => `${line}: ${message}`)];
  };

  it.each<[string, Record<string, string>, string]>([
    ['${env:X}', { X: 'abc' }, 'abc'],
    ['${env:X}', { X: '' }, '3: secrets.KEY.value: the variable X is not set'],
    ['${env:X}', { X: ' abc' }, '3: secrets.KEY.value: a value may not begin or end with a space'],
    ['${file:no/such}', {}, '3: secrets.KEY.value: the file no/such cannot be read (ENOENT)'],
  ])('[OPS-6] %s of %j is %s', (value, env, expected) => {
    expect(problemsOf(value, env)).toEqual([expected]);
  });
});

describe('references', () => {
  const problemsOf = (file: object, present = NOTHING) =>
    checkReferences(ConfigurationSchema.parse(file), present).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );
  const rule = { effect: 'allow', subject: { kind: 'everyone' } };

  it('[OPS-6] may point to the file, to the gateway, and to patterns', () => {
    const subject = { kind: 'principal', name: 'Ada' };
    const present = { ...NOTHING, servers: [{ id: 'i', name: 'There' }] };
    const rules = {
      a: { ...rule, subject, server: 'THERE' },
      b: { ...rule, server: 'i' },
      c: { ...rule, server: 'x*' },
    };
    expect(problemsOf({ principals: { Ada: {} }, rules }, present)).toEqual([]);
  });

  it('[OPS-6] to a name of two principals are refused', () => {
    const principals = ['1', '2'].map(id => ({ id, name: 'Ada' }));
    const subject = { kind: 'principal', name: 'Ada' };
    const rules = { a: { ...rule, subject }, b: { ...rule, subject: { ...subject, name: '2' } } };
    expect(problemsOf({ rules }, { ...NOTHING, principals })).toEqual([
      'rules.a.subject.name: several principals are called Ada; write an id',
    ]);
  });

  it('[OPS-6] of two budgets to one subject are refused', () => {
    const budget = { subject: { kind: 'group', name: 'staff' }, calls_per_day: 5 };
    expect(problemsOf({ budgets: { a: budget, b: { ...budget, calls_per_day: 6 } } })).toEqual([
      'budgets.b: duplicate: another budget has the same subject',
    ]);
  });

  it('[OPS-6] by names that differ only in case are duplicates', () => {
    const include = ['*'];
    expect(problemsOf({ toolsets: { a: { include }, A: { include } } })).toEqual([
      'toolsets.A: duplicate name (differs only in case)',
    ]);
  });
});

it('[OPS-6] the schema for editors knows every section and refuses other fields', () => {
  const schema = toJsonSchema() as { properties: object; additionalProperties: boolean };
  expect(Object.keys(schema.properties)).toEqual(Object.keys(ConfigurationSchema.shape));
  expect(schema.additionalProperties).toBe(false);
});
