/** The gateway in a hand-written JSON file: random files with comments, in every layout, keep everything but the entry. */
import stripJsonComments from 'strip-json-comments';
import { describe, expect, it } from 'vitest';
import {
  readJsonMember,
  withJsonMember,
  withoutJsonMember,
} from '../../../cli/src/client/json-text.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';

const OF = 'mcpServers';
const NAME = 'portico';
const ENTRY = { url: 'http://127.0.0.1:8787/mcp', headers: { Authorization: 'Bearer x' } };
const CASES = 500;

interface Layout {
  unit: string;
  eol: string;
  isOneLine: boolean;
  hasTrailingCommas: boolean;
  comments: number;
}

/** Writes a value in a random style: comments wherever one is allowed, trailing commas, any indentation. */
class Writer {
  readonly #random: Random;
  readonly #layout: Layout;

  constructor(random: Random, layout: Layout) {
    this.#random = random;
    this.#layout = layout;
  }

  write(value: unknown, indentation = ''): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const isList = Array.isArray(value);
    const { unit, eol, isOneLine, hasTrailingCommas } = this.#layout;
    const entries = Object.entries(value);
    const [open, close] = isList ? '[]' : '{}';
    if (entries.length === 0) return `${open}${this.#inline()}${close}`;
    const inner = indentation + unit;
    const members = entries.map(([key, each], at) => {
      const name = isList ? '' : `${JSON.stringify(key)}${this.#inline()}:${this.#inline() || ' '}`;
      const isLast = at === entries.length - 1;
      const comma = !isLast || hasTrailingCommas ? `${this.#inline()},` : '';
      const member = `${name}${this.write(each, inner)}${comma}`;
      return isOneLine
        ? ` ${member}`
        : `${this.#above(inner)}${eol}${inner}${member}${this.#behind()}`;
    });
    return `${open}${members.join('')}${isOneLine ? ' ' : `${this.#above(inner)}${eol}${indentation}`}${close}`;
  }

  #comment(): string {
    return this.#random.pick([' a "note" ', ' } , { ', ' // ', 'ü', ' "portico": 1, ']);
  }
  #inline(): string {
    return this.#random.chance(this.#layout.comments) ? ` /*${this.#comment()}*/ ` : '';
  }
  #above(indentation: string): string {
    const { eol, comments } = this.#layout;
    if (!this.#random.chance(comments)) return '';
    const text = this.#comment();
    const lines = [`//${text}`, `/*${text}*/`, `/*${text}${eol}${text}*/`];
    return `${eol}${indentation}${this.#random.pick(lines)}`;
  }
  #behind(): string {
    const { eol, comments } = this.#layout;
    if (!this.#random.chance(comments)) return '';
    const text = this.#comment();
    return ` ${this.#random.pick([`//${text}`, `/*${text}*/`, `/*${text}${eol}${text}*/`])}`;
  }
}

function drawValue(random: Random, depth = 0): unknown {
  if (depth < 3 && random.chance(0.5)) return drawObject(random, depth + 1);
  if (depth < 3 && random.chance(0.2)) {
    return Array.from({ length: random.below(3) }, () => drawValue(random, depth + 1));
  }
  return random.pick(['text', '// no comment', 'quote " and \\', '}', 7, -1.5e3, true, null, '']);
}

const drawObject = (random: Random, depth = 0): Record<string, unknown> =>
  Object.fromEntries(
    Array.from({ length: random.below(4) }, (_, at) => [
      random.pick(['a', 'b"', 'servers', 'ü', 'x.y']) + String(at),
      drawValue(random, depth),
    ]),
  );

function draw(random: Random) {
  const value: Record<string, unknown> = drawObject(random);
  const hasServers = random.chance(0.8);
  if (hasServers) value[OF] = drawObject(random, 1);
  const after = random.chance(0.5) ? drawObject(random, 1) : {};
  const isOneLine = random.chance(0.2);
  const layout: Layout = {
    unit: random.pick(['  ', '    ', '\t']),
    eol: random.pick(['\n', '\r\n']),
    isOneLine,
    hasTrailingCommas: random.chance(0.3),
    comments: random.pick([0, 0.1, 0.5]),
  };
  const whole = {
    ...value,
    ...Object.fromEntries(Object.entries(after).map(([k, v]) => [`z${k}`, v])),
  };
  const body = new Writer(random, layout).write(whole);
  const text = `${random.pick(['', '', '\uFEFF'])}${body}${random.pick(['', layout.eol])}`;
  return { text, value: whole, hasServers };
}

const valueOf = (text: string): unknown =>
  JSON.parse(stripJsonComments(text.replace('\uFEFF', ''), { trailingCommas: true }));
/** The comments of a text, in order. */
const commentsOf = (text: string): string[] => {
  const bare = stripJsonComments(text);
  return [...text]
    .map((each, at) => (bare[at] === each ? ' ' : each))
    .join('')
    .split(/\s+/);
};

describe('a JSON file', () => {
  it(`[CLI-4] keeps its other contents when the entry is added and removed (seed ${SEED})`, () => {
    const random = createRandom();
    let exact = 0;
    for (let at = 0; at < CASES; at += 1) {
      const { text, value, hasServers } = draw(random);
      const added = withJsonMember(text, OF, NAME, ENTRY);
      const servers = value[OF] as object | undefined;
      expect([text, valueOf(added)]).toEqual([
        text,
        { ...value, [OF]: { ...servers, [NAME]: ENTRY } },
      ]);
      expect([text, commentsOf(added)]).toEqual([text, commentsOf(text)]);
      expect(readJsonMember(added, OF, NAME)).toEqual(ENTRY);
      expect([text, withJsonMember(added, OF, NAME, ENTRY)]).toEqual([text, added]);
      const replaced = withJsonMember(added, OF, NAME, { url: 'other', list: [1, { a: [] }] });
      expect([text, withJsonMember(replaced, OF, NAME, ENTRY)]).toEqual([text, added]);
      const removed = withoutJsonMember(added, OF, NAME);
      expect([text, commentsOf(removed)]).toEqual([text, commentsOf(text)]);
      expect([text, valueOf(removed)]).toEqual([text, { ...value, [OF]: { ...servers } }]);
      if (!hasServers || Object.keys(servers ?? {}).length === 0) continue;
      expect(removed).toBe(text);
      exact += 1;
    }
    expect(exact).toBeGreaterThan(CASES / 2);
  });

  it('[CLI-4] gets the entry where people expect it', () => {
    const text = [
      '{',
      '\t// mine',
      '\t"mcpServers": {',
      '\t\t"hub": { "url": "https://hub.example.com" } // the hub',
      '\t\t// to be continued',
      '\t},',
      '\t"theme": "dark",',
      '}',
      '',
    ].join('\n');
    expect(withJsonMember(text, OF, NAME, { url: 'x' })).toBe(
      text
        .replace('com" } //', 'com" }, //')
        .replace('the hub\n', 'the hub\n\t\t"portico": {\n\t\t\t"url": "x"\n\t\t}\n'),
    );
    expect(withJsonMember('', OF, NAME, { url: 'x' })).toBe(
      '{\n  "mcpServers": {\n    "portico": {\n      "url": "x"\n    }\n  }\n}\n',
    );
    expect(withJsonMember('{"mcpServers":{}}', OF, NAME, { url: 'x' })).toBe(
      '{"mcpServers":{\n  "portico": {\n    "url": "x"\n  }\n}}',
    );
    expect(withJsonMember('{"mcpServers":{"a":{}}}', OF, NAME, { url: 'x' })).toBe(
      '{"mcpServers":{"a":{}, "portico": {"url":"x"}}}',
    );
  });

  it('[CLI-4] loses the entry wherever somebody put it', () => {
    const entry = '"portico": {"url": "x"}';
    const rest = (text: string) => withoutJsonMember(text, OF, NAME);
    expect(rest(`{"mcpServers": {${entry}, "a": {}}}`)).toBe('{"mcpServers": { "a": {}}}');
    expect(rest(`{"mcpServers": {"a": {}, ${entry}}}`)).toBe('{"mcpServers": {"a": {}}}');
    expect(rest(`{"mcpServers": {\n  "a": {}\n  , ${entry}\n}}`)).toBe(
      '{"mcpServers": {\n  "a": {}\n  \n}}',
    );
    expect(rest(`{"mcpServers": {\n  // ours\n  ${entry}, "a": {}\n}}`)).toBe(
      '{"mcpServers": {\n  // ours\n "a": {}\n}}',
    );
    expect(rest(`{"mcpServers": {\n  ${entry}\n}}`)).toBe('{"mcpServers": {}}');
    expect(rest('{"mcpServers": {"a": {}}}')).toBe('{"mcpServers": {"a": {}}}');
    expect(rest('{}')).toBe('{}');
  });

  it.each([
    ['{"a": ', /is not valid JSON$/],
    ['[]', /is not a JSON object/],
    ['# a', /is not valid JSON$/],
    ['{"mcpServers": []}', /"mcpServers" that is not an object/],
    ['{"mcpServers": {"portico": {"a": 1}, "portico": {}}}', /this command cannot edit/],
    ['{"mcpServers": {}, "mcpServers": {}}', /"mcpServers" twice/],
  ])('[CLI-4] is unchanged if it has another form: %s', (text, why) => {
    expect(() => withJsonMember(text, OF, NAME, ENTRY)).toThrow(why);
  });
});
