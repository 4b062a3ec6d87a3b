/** How the commands for rules, principals, groups, toolsets and secrets read a command line, and how they show a record. */
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { readBody, readFields, toOption, toText } from '../../../cli/src/resources/body.ts';
import { editedFieldsOf } from '../../../cli/src/resources/resource.ts';
import { RESOURCES } from '../../../cli/src/resources/resources.ts';
import { readSubject, toSubjectText } from '../../../cli/src/resources/subject.ts';

/** The record that a command line describes. */
function read(name: string, words: readonly string[]): object {
  const resource = RESOURCES.find(each => each.name === name);
  if (!resource) throw new Error(`no resource ${name}`);
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  const fields = editedFieldsOf(resource);
  for (const field of fields) command.addOption(toOption(field));
  return readFields(fields, command.parse(words, { from: 'user' }).opts());
}

const findPrincipal = async (name: string) => `id-of-${name}`;

describe('fields', () => {
  it.each([
    ['rules', [], {}],
    ['rules', ['--effect', 'deny', '--tool', 'get_*'], { effect: 'deny', tool: 'get_*' }],
    ['rules', ['--subject', 'group:a'], { subject: 'group:a' }],
    ['rules', ['--read-only'], { read_only: true }],
    ['rules', ['--no-read-only', '--description', ''], { read_only: false, description: '' }],
    ['principals', ['--group', 'a', '--group', 'b'], { groups: ['a', 'b'] }],
    ['principals', ['--name', 'Ada'], { name: 'Ada' }],
    ['principals', ['--scope', 'tools:read'], { scopes: ['tools:read'] }],
    [
      'toolsets',
      ['--include', 'a.*', '--name-style', 'dot'],
      { include: ['a.*'], name_style: 'dot' },
    ],
    ['secrets', ['--origin', 'https://a.example'], { origins: ['https://a.example'] }],
  ])('[OPS-8] of %s are read from %j', (name, words, said) => {
    expect(read(name, words)).toEqual(said);
  });

  it.each([
    ['rules', ['--effect', 'maybe']],
    ['toolsets', ['--tools', 'none']],
    ['secrets', ['--value', 'a-secret']],
    ['secrets', ['a-secret']],
  ])('[OPS-8] of %s refuse %j', (name, words) => {
    expect(() => read(name, words)).toThrow(/^error: /);
  });

  it('[OPS-8] come from JSON too, if it is an object', () => {
    expect(readBody('{"groups":[]}', 'a.json')).toEqual({ groups: [] });
    for (const json of ['', '[]', 'null', '"text"', '{']) {
      expect(() => readBody(json, 'a.json')).toThrow('a.json does not contain a JSON object');
      expect(() => readBody(json, '-')).toThrow('standard input does not contain a JSON object');
    }
  });
});

describe('a subject', () => {
  const principal = (id: string) => id.replace('id-of-', '');

  it.each([
    ['everyone', { kind: 'everyone' }],
    ['group:staff', { kind: 'group', name: 'staff' }],
    ['principal:Ada', { kind: 'principal', id: 'id-of-Ada' }],
    ['principal:Ada: the first', { kind: 'principal', id: 'id-of-Ada: the first' }],
  ])('[OPS-8] is written %s', async (text, subject) => {
    const found = await readSubject(text, findPrincipal);
    expect(found).toEqual(subject);
    expect(toSubjectText(found, { principal })).toBe(text);
  });

  it.each([
    '',
    'Everyone',
    'everyone:',
    'everyone:a',
    'group',
    'group:',
    'principal:',
    'staff',
    ':a',
  ])('[OPS-8] is not written "%s"', async text => {
    await expect(readSubject(text, findPrincipal)).rejects.toMatchObject({
      message: `'${text}' is not a subject; write everyone, group:NAME or principal:NAME`,
      exitCode: 2,
    });
  });
});

it.each([
  ['a text', 'a text'],
  [['a', 'b'], 'a, b'],
  [[], ''],
  [null, 'null'],
  [3, '3'],
  [true, 'true'],
  [[{ id: '1', name: 'docs' }, { id: '2' }], 'docs, 2'],
  [{ groups: ['staff'] }, '{"groups":["staff"]}'],
  [[{ server: 'docs', name: 'other' }], '{"server":"docs","name":"other"}'],
])('[OPS-8] shows %j as %s', (value, text) => {
  expect(toText(value)).toBe(text);
});
