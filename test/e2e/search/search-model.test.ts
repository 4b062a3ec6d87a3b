/**
 * Search with an embedding model, end to end: a scripted one behind an OpenAI-compatible endpoint, as a separate process. It helps if no
 * word is shared, gets only new texts, and a search still works without it.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startWithModel, type SkilledGateway } from '../support/skilled-gateway.ts';

let model: Upstream;
let skilled: SkilledGateway;

beforeAll(async () => {
  const env = { PORTICO_MODEL: 'none', PORTICO_MODEL_EMBED: 'vectors-1' };
  ({ model, skilled } = await startWithModel('scripted-vectors', env));
});
afterAll(async () => {
  await skilled?.stop();
  await model?.stop();
});
beforeEach(() => model.counters('?mode=good'));

/** Returns the names of the hits, best first. */
async function search(query: string, token?: string): Promise<string[]> {
  const { gateway } = skilled;
  const { status, json } = await gateway.api('POST', '/api/v1/search', { query, limit: 20 }, token);
  expect(status).toBe(200);
  return (json['tools'] as { name: string }[]).map(({ name }) => name);
}
const firstIs = (query: string, name: string) =>
  until(`${name} is first for "${query}"`, 30_000, async () =>
    (await search(query))[0] === name ? true : undefined,
  );
/** Returns the texts that the model received since the last time. */
const textsOf = async () => (await (await fetch(`${model.origin}/texts`)).json()) as string[];

/** The wanted tool is never the first by name, so that it comes first only if its vector is known. */
const BOX: [string, string][] = [
  ['archive', 'Archive something'],
  ['post_bill', 'Post an invoice'],
  ['zq_start', 'Start a container'],
];

describe('a search with an embedding model', () => {
  it('[FIND-1] [LLM-3] finds a tool that shares no word with the request, and embeds each text once', async () => {
    await skilled.add('box', BOX);
    // As long as the model has returned no vectors of the tools.
    expect(['box.archive', 'box.zq_start']).toContain((await search('ᚠᛚᚢᚱ'))[0]);
    await firstIs('ᚠᛚᚢᚱ', 'box.zq_start');
    await firstIs('ᚷᚱᛟᛒ', 'box.post_bill');
    const asked = await textsOf();
    for (const [name, description] of BOX) {
      const text = [name, '', description].join(' ');
      expect(asked.filter(one => one === text)).toHaveLength(1);
    }
    expect(asked).toContain('ᚠᛚᚢᚱ');
  });

  it('[FIND-1] embeds only what is new in a changed catalog', async () => {
    await textsOf();
    await skilled.change('box', [...BOX, ['hum', 'Play a melody']]);
    await firstIs('ᚹᛁᛗᛉ', 'box.hum');
    const asked = await textsOf();
    expect(asked.filter(text => text !== 'ᚹᛁᛗᛉ')).toEqual(['hum  Play a melody']);
  });

  it('[FIND-1] [ACC-3] shows nobody a hidden tool, and hidden tools do not move the others', async () => {
    const { token } = await skilled.gateway.createToken({
      name: 'narrow',
      tools: ['box.archive', 'box.post_bill'],
    });
    expect((await search('ᚠᛚᚢᚱ', token)).toSorted()).toEqual(['box.archive', 'box.post_bill']);
  });

  it('[FIND-1] skips a hanging model for a while, and discovery continues', async () => {
    await model.counters('?mode=slow');
    await skilled.add('news', [['read_paper', 'Read the paper of today']]);
    await firstIs('read the paper', 'news.read_paper');
    expect((await search('ᚠᛚᚢᚱ'))[0]).toBe('box.archive');
    await model.counters('?mode=good');
    await firstIs('ᚠᛚᚢᚱ', 'box.zq_start');
  });
});
