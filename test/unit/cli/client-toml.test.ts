/** The gateway in a hand-written TOML file: random files keep everything but the table. */
import { describe, expect, it } from 'vitest';
import {
  readTomlTable,
  withoutTomlTable,
  withTomlTable,
} from '../../../cli/src/client/toml-text.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';

const OF = 'mcp_servers';
const NAME = 'portico';
const ENTRY = { url: 'http://127.0.0.1:8787/mcp', http_headers: { Authorization: 'Bearer x' } };
const TABLE = [
  '[mcp_servers.portico]',
  'url = "http://127.0.0.1:8787/mcp"',
  'http_headers = { Authorization = "Bearer x" }',
  '',
].join('\n');
const CASES = 1_500;

/** A parser that ignores strings would see a table header in each of them. */
const VALUES = [
  '"[mcp_servers.portico]"',
  "'C:\\[mcp_servers.portico]'",
  '"""\n[mcp_servers.portico]\n"quoted" \\""" ""end"""""',
  "'''\n[mcp_servers.portico]\n''quoted'''''",
  '[\n  "a", # [mcp_servers.portico]\n  [1, 2],\n]',
  '{ a = "}", b.c = [1], "d e" = { f = 1 } }',
  '1979-05-27 07:32:00Z',
  '-1_000.5e3',
  'true',
  '"" # a comment with "quotes',
];
const KEYS = ['model', '"quoted key"', "'literal'", 'a . b', 'mcp_servers_extra', '1'];
const TABLES = [
  '[mcp_servers]',
  '[mcp_servers.hub]',
  '[ mcp_servers . "hub.two" ] # mine',
  '[mcp_servers.portico-other]',
  '[portico.mcp_servers]',
  '[[profiles]]',
  '[tools."a]b"]',
];

function draw(random: Random): string {
  const lines: string[] = [];
  const fill = () => {
    for (let at = random.below(4); at > 0; at -= 1) {
      if (random.chance(0.3)) lines.push(random.pick(['# [mcp_servers.portico]', '', '  # "']));
      lines.push(`${random.pick(['', '  '])}k${at}.${random.pick(KEYS)} = ${random.pick(VALUES)}`);
    }
  };
  fill();
  for (let at = random.below(5); at > 0; at -= 1) {
    if (random.chance(0.7)) lines.push('');
    lines.push(random.pick(TABLES));
    fill();
  }
  return lines.map(line => `${line}\n`).join('');
}

/** The line ending of a text; a text without one gets `\n`. */
const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

describe('a TOML file', () => {
  it(`[CLI-4] keeps its other contents when the table is added and removed (seed ${SEED})`, () => {
    const random = createRandom();
    for (let at = 0; at < CASES; at += 1) {
      const eol = random.pick(['\n', '\r\n']);
      const [text, more] = [`first = 1\n${draw(random)}`, `\n[later]\n${draw(random)}`].map(part =>
        part.replaceAll('\n', eol),
      ) as [string, string];
      expect([text, readTomlTable(text, OF, NAME)]).toEqual([text, undefined]);
      const added = withTomlTable(text, OF, NAME, ENTRY);
      expect([text, added.startsWith(text)]).toEqual([text, true]);
      expect(readTomlTable(added, OF, NAME)).toBe(TABLE.replaceAll('\n', eolOf(text)));
      const later = added + more;
      const replaced = withTomlTable(later, OF, NAME, { url: 'other' });
      expect([later, withTomlTable(replaced, OF, NAME, ENTRY)]).toEqual([later, later]);
      expect([text, withoutTomlTable(added, OF, NAME)]).toEqual([text, text]);
      expect([later, withoutTomlTable(later, OF, NAME)]).toEqual([later, text + more]);
    }
  });

  it('[CLI-4] gets the table at its end, or in place of one with the same name', () => {
    expect(withTomlTable('', OF, NAME, ENTRY)).toBe(TABLE);
    expect(withTomlTable('a = 1', OF, NAME, ENTRY)).toBe(`a = 1\n\n${TABLE}`);
    const other = '[mcp_servers."portico"]\nurl = "x" # old\n[mcp_servers.portico.env]\nA = "b"\n';
    expect(withTomlTable(`a = 1\n\n${other}\n# last\n[b]\n`, OF, NAME, ENTRY)).toBe(
      `a = 1\n\n${TABLE}\n# last\n[b]\n`,
    );
    const inOneLine = '[mcp_servers]\nportico = { url = "x" }\nhub.url = "y"\n';
    expect(withTomlTable(inOneLine, OF, NAME, ENTRY)).toBe(
      `[mcp_servers]\nhub.url = "y"\n\n${TABLE}`,
    );
    expect(withoutTomlTable('mcp_servers.portico.url = "x"\na = 1\n', OF, NAME)).toBe('a = 1\n');
  });

  it.each([
    ['mcp_servers = { hub = {} }\n', /has mcp_servers as one value/],
    ['[[mcp_servers]]\n', /has mcp_servers as a list/],
    ['a = 1\nb\n', /is invalid TOML in line 2/],
    ['a = "open\n', /is invalid TOML in line 1/],
    ['a = """open\n', /is invalid TOML in line 1/],
    ['a = [1, 2\n', /is invalid TOML in line 2/],
    ['[a\n', /is invalid TOML in line 1/],
    ['{"a": 1}', /is invalid TOML in line 1/],
    ['a = 1 b = 2\n', /is invalid TOML in line 1/],
  ])('[CLI-4] is unchanged if it has another form: %j', (text, why) => {
    expect(() => withTomlTable(text, OF, NAME, ENTRY)).toThrow(why);
  });
});
