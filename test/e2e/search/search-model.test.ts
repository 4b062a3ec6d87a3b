/**
 * Search with a model for vectors, end to end: a scripted one behind an OpenAI-compatible endpoint, in a process of its own. It helps where no
 * word is shared, is asked about what is new only, and its absence costs a search nothing but its help.
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

/** Names of what is found, best first. */
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
/** What the model was asked about since the last time. */
const textsOf = async () => (await (await fetch(`${model.origin}/texts`)).json()) as string[];

/** What is asked for is never the first by name, which it were if nothing was known of a request. */
const BOX: [string, string][] = [
  ['archive', 'Archive something'],
  ['post_bill', 'Post an invoice'],
  ['zq_start', 'Start a container'],
];

describe('a search with a model for vectors', () => {
  it('[FIND-1] [LLM-3] finds what shares no word with the request, and asks about each text once', async () => {
    await skilled.add('box', BOX);
    // As long as the model has said nothing of the tools.
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

  it('[FIND-1] asks about what is new in a catalog that changed', async () => {
    await textsOf();
    await skilled.change('box', [...BOX, ['hum', 'Play a melody']]);
    await firstIs('ᚹᛁᛗᛉ', 'box.hum');
    const asked = await textsOf();
    expect(asked.filter(text => text !== 'ᚹᛁᛗᛉ')).toEqual(['hum  Play a melody']);
  });

  it('[FIND-1] [ACC-3] tells nobody of what is hidden, nor moves it the rest', async () => {
    const { token } = await skilled.gateway.createToken({
      name: 'narrow',
      tools: ['box.archive', 'box.post_bill'],
    });
    expect((await search('ᚠᛚᚢᚱ', token)).toSorted()).toEqual(['box.archive', 'box.post_bill']);
  });

  it('[FIND-1] a model that hangs takes no part for a while, and discovery goes on', async () => {
    await model.counters('?mode=slow');
    await skilled.add('news', [['read_paper', 'Read the paper of today']]);
    await firstIs('read the paper', 'news.read_paper');
    expect((await search('ᚠᛚᚢᚱ'))[0]).toBe('box.archive');
    await model.counters('?mode=good');
    await firstIs('ᚠᛚᚢᚱ', 'box.zq_start');
  });
});
