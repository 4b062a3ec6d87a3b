/** Words added to those of a query: everyday English synonyms, and English for words of other languages. The original words stay. */
import { describe, expect, it } from 'vitest';

import { readEverydayWords } from '../../../src/search/text/near/english.ts';
import { translateRun, translateWord } from '../../../src/search/text/near/translations.ts';
import { toQuery } from '../../../src/search/text/query.ts';
import { hashText, toStem } from '../../../src/search/text/terms.ts';
import { rank } from '../../../src/search/rank/rank.ts';
import { createRandom, SEED } from '../seeded.ts';
import { EMBEDDING, toSearched, toTool } from './made.ts';

const termOf = (word: string): number => hashText(toStem(word));
const nearOf = (query: string, word: string): number[] => {
  const term = toQuery(query, EMBEDDING).terms.find(one => one.term === termOf(word));
  if (!term) throw new Error(`${word} is no term of the query`);
  return term.neighbours.map(neighbour => neighbour.term);
};
const desk = toSearched('Desk', [
  toTool('delete_file', 'Delete a file from a folder'),
  toTool('send_message', 'Send a message to a channel'),
  toTool('get_forecast', 'Get the weather forecast of a city'),
  toTool('create_event', 'Create an event in the calendar'),
]);
const firstOf = (query: string): string => {
  const [first] = rank(query, [desk], EMBEDDING, 1);
  return first ? desk.segment.nameOf(first.tool) : '';
};

describe('everyday words', () => {
  it.each([
    ['drop the row', 'drop', 'delete'],
    ['make a page', 'make', 'create'],
    ['set up a webhook', 'set', 'create'],
    ['get rid of the old one', 'rid', 'delete'],
    ['open a PR', 'pr', 'pull'],
  ])('[FIND-4] of %j, %s gets %s beside it', (query, word, near) => {
    expect(nearOf(query, word)).toContain(termOf(near));
  });

  it('[FIND-4] are not their own synonyms, and no line is written twice', () => {
    for (const [word, others] of readEverydayWords().of) {
      expect(others).not.toContain(word);
      expect(new Set(others).size).toBe(others.length);
    }
  });
});

describe('words of other languages', () => {
  it.each([
    ['loschen', ['delete']],
    ['supprimez', ['delete']],
    ['mensajes', ['message']],
    ['arquivos', ['file']],
    ['wettervorhersage', ['weather', 'forecast']],
  ])('[FIND-4] of an alphabet: %s', (word, english) => {
    expect(translateWord(word)).toEqual(expect.arrayContaining(english));
  });

  it.each(['github', 'loschzugfuhrer', 'x', ''])('[FIND-4] that are unknown: %j', word => {
    expect(translateWord(word)).toEqual([]);
  });

  it('[FIND-4] without spaces are split, longest match first', () => {
    const englishOf = (run: string) => translateRun(run).map(({ english }) => english);
    expect(englishOf('删除文件夹')).toEqual([
      expect.arrayContaining(['delete']),
      expect.arrayContaining(['folder']),
    ]);
    expect(translateRun('メッセージを送信')).toMatchObject([
      { at: 0, length: 5, english: ['message'] },
      { at: 6, length: 2, english: ['send'] },
    ]);
  });

  it.each([
    ['Lösche eine Datei', 'delete_file'],
    ['Supprime un fichier', 'delete_file'],
    ['Elimina un archivo', 'delete_file'],
    ['Exclua um arquivo', 'delete_file'],
    ['删除一个文件', 'delete_file'],
    ['ファイルを削除する', 'delete_file'],
    ['Schick eine Nachricht an den Kanal', 'send_message'],
    ['Envoie un message dans le canal', 'send_message'],
    ['チャンネルにメッセージを送る', 'send_message'],
    ['Wettervorhersage', 'get_forecast'],
    ['这个城市的天气预报', 'get_forecast'],
    ['Añade una cita al calendario', 'create_event'],
  ])('[FIND-4] find a tool that is described in English: %s', (query, name) => {
    expect(firstOf(query)).toBe(name);
  });

  it.each([
    'a note on the page',
    'parse a résumé of a client',
    'active tickets in Jira',
    'plan a route to the café',
  ])('[FIND-4] leave an English query with such words unchanged: %s', query => {
    expect(toQuery(query, EMBEDDING).vector).toEqual(EMBEDDING.embed(query));
  });

  it('[FIND-4] keep each original word', () => {
    const terms = toQuery('Lösche 删除 file', EMBEDDING).terms.map(({ term }) => term);
    expect(terms).toEqual([termOf('losche'), termOf('删除'), termOf('file')]);
  });

  it(`[FIND-4] are bounded for any query (seed ${SEED})`, () => {
    const random = createRandom();
    const parts = ['datei', 'wetter', 'losch', '删除', 'メ', 'ー', 'set up ', 'ß', '\u202e', ' '];
    for (let i = 0; i < 100; i += 1) {
      const query = Array.from({ length: 400 }, () => parts[random.below(parts.length)]).join('');
      const { terms } = toQuery(query, EMBEDDING);
      expect(terms.length).toBeLessThanOrEqual(64);
      for (const { neighbours } of terms) {
        expect(neighbours.length).toBeLessThanOrEqual(24);
        for (const { similarity } of neighbours) {
          expect(similarity).toBeGreaterThan(0);
          expect(similarity).toBeLessThanOrEqual(1);
        }
      }
    }
  });
});
