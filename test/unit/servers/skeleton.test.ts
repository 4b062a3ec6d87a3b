/** Look-alike names: every hostile name of the corpus has the skeleton of the tool that it imitates, and honest names have their own. */
import { describe, expect, it } from 'vitest';
import { toVisible } from '../../../src/shared/util/visible-text.ts';
import {
  isDisguised,
  looksLikeAscii,
  skeletonOf,
} from '../../../src/servers/approvals/skeleton.ts';
import { loadCorpus } from '../../fixtures/corpora.ts';

const { cases, origin } = loadCorpus('hostile-tool-names');
const spoofs = cases.flatMap(({ target: name, spoof, class: kind }) =>
  name && spoof && kind !== 'hostile-name' ? [{ name, spoof, kind }] : [],
);

/** Tool names of widely used servers. */
const HONEST = [
  'search',
  'search_issues',
  'search_code',
  'create_issue',
  'create_issue_comment',
  'list_issues',
  'list_commits',
  'get_file_contents',
  'read_file',
  'read_multiple_files',
  'write_file',
  'edit_file',
  'move_file',
  'query',
  'execute',
  'send_message',
  'send_email',
  'fetch',
  'fetch_all',
  'tool-0001',
  'tool-0010',
  'tool-0100',
  'tool_2',
  'api-v1-users',
  'Поиск',
  'поиск_задач',
  '搜索',
  '検索',
];

describe('a skeleton', () => {
  it(`[SEC-7] equals that of the imitated tool (${origin})`, () => {
    const missed = spoofs.filter(({ name, spoof }) => skeletonOf(name) !== skeletonOf(spoof));
    expect(missed).toEqual([]);
    expect(spoofs.length).toBeGreaterThan(5);
  });

  it('[SEC-7] differs for honest names', () => {
    expect(new Set(HONEST.map(skeletonOf)).size).toBe(HONEST.length);
    expect(HONEST.filter(isDisguised)).toEqual([]);
  });

  it.each([
    ['send_email', 'send_emaiI'],
    ['send_email', 'sendEmail'],
    ['send_email', 'SEND-EMAIL'],
    ['list_files', '1ist_fi1es'],
    ['modern', 'modem'],
    ['o0', 'Oo'],
    ['paypal', 'раураl'],
    ['straße', 'strasse'.replace('ss', 'ß')],
    ['search', 'search_v2'],
    ['search', 'ѕearch ⅴ2'],
    ['delete', 'delete\nsafe: true'],
  ])('[SEC-7] is equal for %j and %j', (one, other) => {
    expect(skeletonOf(one)).toBe(skeletonOf(other));
  });

  it.each(['_', '..', '__proto__', 'constructor', '\u200b', '💥', 'a'.repeat(65_536)])(
    '[SEC-7] is not empty for %j',
    name => expect(skeletonOf(name)).not.toBe(''),
  );
});

describe('a name', () => {
  it.each([' a', 'a ', 'a\u200bb', 'a\u202eb', 'a\nb', 'a\0', 'a\u{e0061}', 'a\u2800', 'a\ufe0f'])(
    '[SEC-7] %j is disguised',
    name => expect(isDisguised(name)).toBe(true),
  );

  it.each(['a b', 'é', 'имя', 'a.b/c-d_e', '名前'])('[SEC-7] %j is not', name => {
    expect(isDisguised(name)).toBe(false);
  });
});

describe('text with invisible characters made visible', () => {
  it.each([
    ['plain text,\n\ttwo lines', 'plain text,\n\ttwo lines'],
    ['a\u200bb', 'a⟨U+200B⟩b'],
    ['\u202eabc\u202c', '⟨U+202E⟩abc⟨U+202C⟩'],
    ['\u2066a\u2069\ufeff', '⟨U+2066⟩a⟨U+2069⟩⟨U+FEFF⟩'],
    ['a\u{e0061}b', 'a⟨U+E0061⟩b'],
    ['a\u00a0b\r\n', 'a⟨U+00A0⟩b⟨U+000D⟩\n'],
    ['s\u0435nd', 's⟨U+0435⟩nd'],
    ['привет, мир', 'привет, мир'],
    ['日本語 naïve', '日本語 naïve'],
    ['⟨U+200B⟩', '⟨U+27E8⟩U+200B⟩'],
    ['\ud800', '⟨U+D800⟩'],
  ])('[SEC-7] %j is %j', (text, shown) => {
    expect(toVisible(text, looksLikeAscii)).toBe(shown);
  });

  it('[SEC-7] shows every look-alike letter of a name', () => {
    expect(toVisible('ѕеnd\n', looksLikeAscii, true)).toBe('⟨U+0455⟩⟨U+0435⟩nd⟨U+000A⟩');
    expect(toVisible('раура', looksLikeAscii, true)).toBe(
      '⟨U+0440⟩⟨U+0430⟩⟨U+0443⟩⟨U+0440⟩⟨U+0430⟩',
    );
  });

  it(`[SEC-7] shows every imitation of the corpus as another name (${origin})`, () => {
    const unseen = new Set(['separator', 'suffix', 'case', 'space', 'fullwidth']);
    const alike = spoofs.filter(
      ({ name, spoof, kind }) =>
        !unseen.has(kind) && toVisible(spoof, looksLikeAscii, true) === name,
    );
    expect(alike).toEqual([]);
    // An ASCII name that differs only in case, separators or digits for letters is shown unchanged.
    const isHidden = ({ spoof }: { spoof: string }) =>
      !/^[ -~]*$/.test(spoof) && toVisible(spoof, looksLikeAscii, true) === spoof;
    expect(spoofs.filter(isHidden)).toEqual([]);
  });
});
