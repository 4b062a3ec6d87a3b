/** Tables, header lines, times and names as a person types them. */
import { describe, expect, it } from 'vitest';
import { readSince } from '../../../cli/src/commands/audit.ts';
import { readExpiry } from '../../../cli/src/commands/token.ts';
import { checkNode, checkWebSocket } from '../../../cli/src/doctor/check-machine.ts';
import { findRecord } from '../../../cli/src/gateway/api.ts';
import { findTool } from '../../../cli/src/gateway/find-tool.ts';
import { readHeaders } from '../../../cli/src/gateway/headers.ts';
import { cut, formatTable, widthOf } from '../../../cli/src/output/table.ts';

describe('a table', () => {
  const rows = [
    ['a', '漢字', 'first\nline  of\ttwo'],
    ['longer', 'x', ''],
    ['b', 'ä\u0301', '\u001b[31mred\u202e'],
  ];

  it('[CLI-4] is aligned, and moves no cursor', () => {
    expect(formatTable(['NAME', 'B', 'NOTES'], rows)).toBe(
      [
        'NAME    B     NOTES',
        'a       漢字  first line of two',
        'longer  x',
        'b       ä\u0301     ⟨U+001B⟩[31mred⟨U+202E⟩',
        '',
      ].join('\n'),
    );
  });

  it("[CLI-4] is truncated to the terminal's width, in its last column", () => {
    const lines = formatTable(['NAME', 'NOTES'], [['a', 'x'.repeat(100)]], { columns: 40 })
      .trimEnd()
      .split('\n');
    expect(lines.map(line => widthOf(line))).toEqual([11, 40]);
    expect(lines[1]?.endsWith('…')).toBe(true);
    expect(formatTable(['NAME', 'NOTES'], [['a', 'x'.repeat(30)]], { columns: 10 })).toContain(
      'x'.repeat(30),
    );
  });

  it('[CLI-4] is wrapped in its last column', () => {
    const long = [['a', `one two ${'x'.repeat(16)} three`]];
    expect(formatTable(['N', 'NOTES'], long, { columns: 15, last: 'wrap' })).toBe(
      'N  NOTES\na  one two\n   xxxxxxxxxxxx\n   xxxx three\n',
    );
  });

  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['漢字漢', 4, '漢…'],
  ])('[CLI-4] cuts %s to %i', (text, columns, expected) => {
    expect(cut(text, columns)).toBe(expected);
  });
});

describe('header lines', () => {
  const env = { TOKEN: 's3cret', EMPTY: '' };
  it('[CLI-4] expand variables', () => {
    expect(readHeaders([], env)).toBeUndefined();
    expect(readHeaders(['Authorization: Bearer ${TOKEN}', 'X-A:b: c '], env)).toEqual({
      Authorization: 'Bearer s3cret',
      'X-A': 'b: c',
    });
  });

  it('[CLI-4] refer to a secret of the gateway, and a variable does not', () => {
    const given = { TOKEN: 'a${B}c' };
    expect(readHeaders(['A: Bearer $${HUB_TOKEN}', 'B: ${TOKEN}'], given)).toEqual({
      A: 'Bearer ${HUB_TOKEN}',
      B: 'a$${B}c',
    });
  });

  it.each([
    ['no colon', /written 'Name: value'/],
    ['A b: c', /written 'Name: value'/],
    ['A: ${MISSING}', /A needs MISSING, .* write \$\$\{MISSING\}$/],
    ['A: ${TOKEN}${EMPTY}', /A needs EMPTY/],
  ])('[CLI-4] are refused: %s', (line, message) => {
    expect(() => readHeaders([line], env)).toThrow(message);
    expect(() => readHeaders([line], env)).not.toThrow(/s3cret/);
  });
});

describe('an expiry', () => {
  const now = Date.parse('2026-11-22T00:00:00Z');
  it.each([
    ['12h', '2026-11-22T12:00:00.000Z'],
    ['90d', '2027-02-20T00:00:00.000Z'],
    ['4w', '2026-12-20T00:00:00.000Z'],
    ['2027-01-31T00:00Z', '2027-01-31T00:00:00.000Z'],
  ])('[CLI-4] is %s', (text, expected) => {
    expect(readExpiry(text, now)).toBe(expected);
  });

  it.each(['soon', '90', '-1d', ''])('[CLI-4] is not %j', text => {
    expect(() => readExpiry(text, now)).toThrow(/is not a valid time/);
  });
});

describe('a time in the past', () => {
  const now = Date.parse('2026-11-22T00:00:00Z');
  it.each([
    ['30m', '2026-11-21T23:30:00.000Z'],
    ['12h', '2026-11-21T12:00:00.000Z'],
    ['7d', '2026-11-15T00:00:00.000Z'],
    ['99999d', '1753-02-07T00:00:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ])('[CLI-4] is %s', (text, expected) => {
    expect(readSince(text, now)).toBe(expected);
  });

  it.each(['yesterday', '5', '12', '999999d', '2026-13-01', ''])('[CLI-4] is not %j', text => {
    expect(() => readSince(text, now)).toThrow(`'${text}' is not a valid time; write 30m`);
  });
});

describe('a name', () => {
  const tools = ['github.create_issue', 'github.list_issues', 'jira.create_issue', 'plain'].map(
    name => ({ name }),
  );

  it.each([
    ['github.create_issue', 'github.create_issue'],
    ['github__create_issue', 'github.create_issue'],
    ['github:create_issue', 'github.create_issue'],
    ['github/create_issue', 'github.create_issue'],
    ['plain', 'plain'],
  ])('[CLI-4] of a tool may be %s', (wanted, name) => {
    expect(findTool(tools, wanted).name).toBe(name);
  });

  it.each([
    ['github.create_isue', /did you mean github.create_issue\?/],
    ['create_issue', /did you mean .*github.create_issue/],
    ['weather', /see portico tools/],
  ])('[CLI-4] of no tool is %s', (wanted, message) => {
    expect(() => findTool(tools, wanted)).toThrow(message);
  });

  it('[CLI-4] of a record may also be its id, and must be unique', () => {
    const records = [
      { id: '1', name: 'a' },
      { id: '2', name: 'b' },
      { id: '3', name: 'b' },
      { id: 'a', name: 'c' },
    ];
    expect(findRecord('token', '1', records).name).toBe('a');
    expect(findRecord('token', 'a', records).name).toBe('c');
    expect(() => findRecord('token', 'b', records)).toThrow(/several tokens/);
    expect(() => findRecord('server', 'x', records)).toThrow(/see portico servers/);
  });

  it('[CLI-4] of a record that does not exist is answered with the nearest one', () => {
    const records = ['github', 'docs', 'a'].map(name => ({ id: name, name }));
    expect(() => findRecord('server', 'gihub', records)).toThrow(/did you mean 'github'\?/);
    expect(() => findRecord('server', 'Docs', records)).toThrow(/did you mean 'docs'\?/);
    expect(() => findRecord('server', 'weather', records)).toThrow(/see portico servers/);
  });
});

describe('a machine', () => {
  it.each([
    ['22.13.0', 'ok'],
    ['24.0.0', 'ok'],
    ['22.12.9', 'failed'],
    ['20.19.0', 'failed'],
  ])('[CLI-4] with Node %s is %s', (version, state) => {
    expect(checkNode(version).state).toBe(state);
  });

  it('[CLI-4] without WebSocket gets advice', () => {
    expect(checkWebSocket(undefined)).toMatchObject({ state: 'failed' });
    expect(checkWebSocket(WebSocket).state).toBe('ok');
  });
});
