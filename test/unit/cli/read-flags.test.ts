/** Command-line flags become arguments of a tool, by the tool's schema. */
import { describe, expect, it } from 'vitest';
import { describeTool } from '../../../cli/src/call/describe.ts';
import { splitFlags } from '../../../cli/src/call/own-flags.ts';
import { readParameters, takesOthers } from '../../../cli/src/call/parameters.ts';
import { hasFlag, missingFrom, readFlags, toJsonText } from '../../../cli/src/call/read-flags.ts';
import { showResult } from '../../../cli/src/call/show-result.ts';

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'What it is called' },
    count: { type: 'integer', default: 3 },
    ratio: { type: 'number' },
    isDraft: { type: 'boolean' },
    labels: { type: 'array', items: { type: 'string', enum: ['bug', 'roof'] } },
    numbers: { type: 'array', items: { type: 'integer' } },
    matrix: { type: 'array', items: { type: 'array' } },
    mode: { enum: ['fast', 'slow'] },
    level: { type: 'integer', enum: [1, 2] },
    kind: { const: 'issue' },
    due: { type: ['string', 'null'] },
    owner: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    tags: { oneOf: [{ type: 'null' }, { type: 'array', items: { type: 'string' } }] },
    isOpen: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    spot: { anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] },
    anything: {},
    extra: { type: 'object' },
    place: { $ref: '#/$defs/place' },
    'a.b': { type: 'string' },
  },
  required: ['title', 'place'],
  $defs: {
    place: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        at: { type: 'object', properties: { lat: { type: 'number' }, lon: { type: 'number' } } },
      },
      required: ['city'],
    },
  },
};
const parameters = readParameters(schema);
const read = (words: string[], given?: string) =>
  toJsonText(readFlags(words, parameters, false, given));

describe('arguments', () => {
  it.each([
    [['--title', 'It rains'], '{"title":"It rains"}'],
    [['--title=--json'], '{"title":"--json"}'],
    [['--title', ''], '{"title":""}'],
    [['--title', '12'], '{"title":"12"}'],
    [['--title', '-x'], '{"title":"-x"}'],
    [['--count', '-5'], '{"count":-5}'],
    [['--count', '12345678901234567890'], '{"count":12345678901234567890}'],
    [['--ratio', '1.50e3'], '{"ratio":1.50e3}'],
    [['--isDraft'], '{"isDraft":true}'],
    [['--is-draft', '--title', 'a'], '{"isDraft":true,"title":"a"}'],
    [['--isDraft', 'false'], '{"isDraft":false}'],
    [['--isDraft=false'], '{"isDraft":false}'],
    [['--no-is-draft'], '{"isDraft":false}'],
    [['--labels', 'bug', '--labels', 'roof'], '{"labels":["bug","roof"]}'],
    [['--labels', '["bug"]'], '{"labels":["bug"]}'],
    [['--numbers', '1', '--numbers=2'], '{"numbers":[1,2]}'],
    [['--numbers', '[]'], '{"numbers":[]}'],
    [['--matrix', '[[1],[2]]'], '{"matrix":[[1],[2]]}'],
    [['--mode', 'fast'], '{"mode":"fast"}'],
    [['--level', '2'], '{"level":2}'],
    [['--kind', 'issue'], '{"kind":"issue"}'],
    [['--due', 'null'], '{"due":null}'],
    [['--owner', '12'], '{"owner":"12"}'],
    [['--owner', 'null'], '{"owner":null}'],
    [['--tags', 'a', '--tags', '2'], '{"tags":["a","2"]}'],
    [['--tags', 'null'], '{"tags":null}'],
    [['--is-open', '--due', 'a'], '{"isOpen":true,"due":"a"}'],
    [['--is-open', 'null'], '{"isOpen":null}'],
    [['--spot', '{"city":"Riga"}'], '{"spot":{"city":"Riga"}}'],
    [['--due', 'nul'], '{"due":"nul"}'],
    [['--anything', '{"a":1.0}'], '{"anything":{"a":1.0}}'],
    [['--anything', 'free text'], '{"anything":"free text"}'],
    [['--extra', '{"b":[]}'], '{"extra":{"b":[]}}'],
    [['--place.city', 'Riga', '--place.at.lat', '57'], '{"place":{"city":"Riga","at":{"lat":57}}}'],
    [['--a.b', 'x'], '{"a.b":"x"}'],
  ])('[CLI-4] are built from %j', (words, text) => {
    expect(read(words)).toBe(text);
  });

  it.each([
    [['--count', '1.5'], /--count must be a whole number; not '1.5'/],
    [['--count', ''], /--count must be a whole number/],
    [['--ratio', 'NaN'], /--ratio must be a number/],
    [['--ratio', '0x10'], /--ratio must be a number/],
    [['--is-draft=maybe'], /--isDraft must be true or false/],
    [['--mode', 'quick'], /--mode must be one of fast, slow; not 'quick'/],
    [['--level', '3'], /--level must be one of 1, 2/],
    [['--labels', 'bug', '--labels', 'flood'], /--labels must be one of bug, roof; not 'flood'/],
    [['--numbers', '1', '--numbers', 'x'], /--numbers must be a whole number/],
    [['--labels', '["bug"'], /--labels must be a JSON list/],
    [['--title', 'a', '--title', 'b'], /--title is given twice/],
    [['--title'], /--title needs a value/],
    [['--title', '--count', '1'], /--title needs a value.*--title=/],
    [['--titel', 'a'], /takes no --titel; it takes --title, --count/],
    [['a', '--title', 'b'], /'a' is not a flag/],
    [['-t', 'a'], /'-t' is not a flag/],
    [['--no-title'], /takes no --no-title/],
  ])('[CLI-4] are refused: %j', (words, message) => {
    expect(() => read(words)).toThrow(message);
  });

  it('[CLI-4] are merged into arguments given as JSON, which keep their form', () => {
    const given =
      '{"big": 12345678901234567890, "place": {"city": "Riga", "x": 1.0}, "title": "a"}';
    expect(read(['--title', 'b', '--place.at.lat', '57'], given)).toBe(
      '{"big":12345678901234567890,"place":{"city":"Riga","x":1.0,"at":{"lat":57}},"title":"b"}',
    );
  });

  it('[CLI-4] may be anything if a schema says nothing', () => {
    expect(takesOthers({})).toBe(true);
    expect(takesOthers(schema)).toBe(false);
    expect(toJsonText(readFlags(['--a', '1', '--b', 'x', '--__proto__', '{}'], [], true))).toBe(
      '{"a":1,"b":"x","__proto__":{}}',
    );
  });

  it.each([
    [[], undefined, ['title', 'place.city']],
    [['--title', 'a'], undefined, ['place.city']],
    [['--title', 'a', '--place.city', 'b'], undefined, []],
    [['--title', 'a'], '{"place":{}}', []],
  ])('[CLI-4] that are missing are found: %j with %s', (words, given, missing) => {
    const tree = readFlags(words, parameters, false, given);
    expect(missingFrom(tree, parameters).map(({ name }) => name)).toEqual(missing);
  });
});

describe('a schema', () => {
  it('[CLI-4] that refers to itself, or to nothing, is read in bounded steps', () => {
    const node = {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' }, x: { $ref: '#/$defs/none' } },
    };
    const found = readParameters({ $ref: '#/$defs/node', $defs: { node } });
    expect(found.length).toBeLessThan(20);
    expect(found.map(({ name }) => name)).toContain('next.next.x');
    expect(readParameters({ properties: 7, required: {} })).toEqual([]);
  });

  it('[CLI-4] is shown as flags', () => {
    const tool = {
      name: 'a.b',
      title: 'Do it',
      description: 'Does it.\u001b[31m',
      inputSchema: schema,
    };
    const text = describeTool(tool);
    expect(text).toContain('a.b: Do it\n');
    expect(text).toContain('Does it.⟨U+001B⟩[31m');
    expect(text).toMatch(/--title +string +What it is called \(required\)/);
    expect(text).toMatch(/--count +integer +\(default 3\)/);
    expect(text).toMatch(/--labels +string… +\(one of bug, roof\)/);
    expect(text).toMatch(/--place\.at\.lat +number/);
  });
});

describe('flags of the command itself', () => {
  it.each([
    [['--a', '1', '--json'], [], { json: true }, ['--a', '1']],
    [['--args', '{}', '--help'], [], { args: '{}', help: true }, []],
    [['--args-file=-'], [], { argsFile: '-' }, []],
    [['--json', '--args', 'x'], ['json', 'args'], {}, ['--json', '--args', 'x']],
    [['--url', 'https://evil.example'], [], {}, ['--url', 'https://evil.example']],
    [['--token', 'x'], [], {}, ['--token', 'x']],
  ])('[CLI-4] are distinguished from those of the tool: %j', (words, tools, own, rest) => {
    expect(splitFlags(words, flag => (tools as string[]).includes(flag))).toEqual({ own, rest });
  });

  it('[CLI-4] leave --no-cache to a tool with the argument `cache`', () => {
    const own = (properties: object) =>
      splitFlags(['--no-cache'], flag => hasFlag(readParameters({ properties }), flag)).own;
    expect(own({ cache: { type: 'boolean' } })).toEqual({});
    expect(own({ cache: { type: 'string' } })).toEqual({ cache: false });
  });
});

describe('a result', () => {
  it('[CLI-4] is shown as its texts, with notes for other content', () => {
    const content = [
      { type: 'text', text: 'one\u001b[2J' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'a://b', text: 'two\n' } },
      { type: 'resource_link', uri: 'a://c\u0007' },
      'nothing',
    ];
    const { text, notes } = showResult({ content }, true);
    expect(text).toBe('one⟨U+001B⟩[2J\ntwo\n');
    expect(notes).toEqual([
      '[image image/png, 3 bytes; --json has it]',
      '[resource_link a://c⟨U+0007⟩; --json has it]',
    ]);
    expect(showResult({ content }, false).text).toBe('one\u001b[2J\ntwo\n');
    expect(showResult({ structuredContent: { a: 1 } }, true).text).toBe('{\n  "a": 1\n}\n');
  });
});
