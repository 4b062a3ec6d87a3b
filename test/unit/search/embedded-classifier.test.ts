/** The shipped classifier: its weights match the shipped table, and its output is bounded and sorted. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readEmbedding } from '../../../src/search/text/embedding.ts';
import {
  createEmbeddedClassifier,
  hasEvidence,
  type EmbeddedMaterial,
} from '../../../src/search/skills/embedded-classifier.ts';
import type { ClassifiedTool } from '../../../src/search/skills/features.ts';
import { createRandom, SEED } from '../seeded.ts';
import { readWeights, toLogShares } from '../../../src/search/skills/weights.ts';
import { readTaxonomy } from '../../../bench/skills/taxonomy.ts';

const read = (name: string): ArrayBuffer =>
  Uint8Array.from(
    readFileSync(fileURLToPath(new URL(`../../../pages/search/${name}`, import.meta.url))),
  ).buffer;
const embedding = readEmbedding(read('embedding.bin'));
const bytes = read('skills.bin');
const weights = readWeights(bytes, embedding.dimensions);
const stored = { is_seeded: true, revision: 1, created_at: 0, updated_at: 0 };
const seeded = readTaxonomy().map(skill => ({
  ...skill,
  examples: [...skill.examples],
  ...stored,
}));

const classifierOf = (more: Partial<EmbeddedMaterial> = {}) =>
  createEmbeddedClassifier({
    embedding,
    weights,
    taxonomy: { revision: 1, skills: seeded },
    handMembers: new Map(),
    ...more,
  });
const toolOf = (name: string, description = '', server = 'desk'): ClassifiedTool => ({
  tool: { name, description, parameters: [], readOnly: false },
  server: { name: server, description: '' },
});

describe('the shipped weights', () => {
  it('[FIND-3] were made with the shipped table, for the seeded taxonomy', () => {
    expect(weights.embeddingId).toBe(embedding.id);
    expect(weights.skills).toEqual(seeded.map(({ id, name }) => ({ id, name })));
  });

  it('[FIND-3] are refused if they are truncated or of another kind', () => {
    expect(() => readWeights(bytes.slice(0, -1), embedding.dimensions)).toThrow(
      'another embedding',
    );
    expect(() => readWeights(read('embedding.bin'), embedding.dimensions)).toThrow('malformed');
  });
});

describe('the embedded classifier', () => {
  it.each([
    ['create_issue', 'Create a new GitHub issue', 'issue_tracking'],
    ['create_pull_request', 'Open a pull request from a branch', 'code_management'],
    ['get_forecast', 'Get the weather forecast of a city for the next days', 'weather'],
    ['post_message', 'Post a message to a channel', 'communication'],
    ['get_wallet_balance', 'Get the balance of an Ethereum wallet', 'blockchain'],
    ['click', 'Click an element of the page in the browser', 'browser_automation'],
  ])('[AG-US3-AC2] [FIND-3] ranks the skill of %s first', (name, description, skill) => {
    const { skills } = classifierOf()(toolOf(name, description));
    expect(skills[0]?.id).toBe(skill);
  });

  it('[AG-US3-AC2] returns one to three skills, most confident first, for any texts', () => {
    const classify = classifierOf();
    const texts = ['', 'x', '\u202E\u200B', '养蜂', 'weather '.repeat(100_000), '}{"]', 'échéance'];
    for (const text of texts) {
      const { skills, reason } = classify(toolOf(text, text, text));
      expect(skills.length).toBeLessThanOrEqual(3);
      expect(reason === null).toBe(skills.length > 0);
      const confidences = skills.map(({ confidence }) => confidence);
      expect(confidences).toEqual(confidences.toSorted((a, b) => b - a));
      for (const confidence of confidences) {
        expect(confidence).toBeGreaterThan(0);
        expect(confidence).toBeLessThanOrEqual(1);
      }
    }
  });

  it(`[FIND-3] spreads meaningless texts over many classes (seed ${SEED})`, () => {
    const random = createRandom();
    const classify = classifierOf();
    const word = () =>
      Array.from(
        { length: 4 + random.below(5) },
        () => 'abcdefghiklmnoprstuvz'[random.below(21)],
      ).join('');
    const counts = new Map<string, number>();
    for (let i = 0; i < 300; i += 1) {
      const text = `${word()} ${word()} ${word()}`;
      const id = classify(toolOf(word(), text, word())).skills[0]?.id ?? 'none';
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    counts.delete('none');
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(300 * 0.25);
  });

  it('[FIND-3] does not count a common class as evidence', () => {
    expect(hasEvidence(0.14, 0.15)).toBe(false);
    expect(hasEvidence(0.16, 0.15)).toBe(true);
    expect(hasEvidence(0.01)).toBe(true);
    const { shares, skills } = weights;
    expect(shares).toHaveLength(skills.length);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 2);
  });

  it('[FIND-3] normalizes scores over all skills, including offsets', () => {
    const shares = [...toLogShares(Float32Array.of(900, 900, -900), [0, Math.log(3), 0])];
    expect(shares.map(share => Math.exp(share))).toEqual([
      expect.closeTo(0.25, 3),
      expect.closeTo(0.75, 3),
      expect.closeTo(0, 3),
    ]);
  });

  it('[AG-US3-AC4] gives the reason why a tool without words has no skill', () => {
    expect(classifierOf()(toolOf('--', ''))).toMatchObject({ skills: [] });
  });

  it('[FIND-3] learns an added skill from its texts, and better from manually assigned tools', () => {
    const added = { id: 'zymurgy', name: 'Zymurgy', description: '', examples: [], ...stored };
    const taxonomy = { revision: 2, skills: [...seeded, added] };
    const tool = toolOf('log_beer', 'Log the gravity of a fermenting beer');
    const confidenceOf = (more: Partial<EmbeddedMaterial>) =>
      classifierOf({ taxonomy, ...more })(tool).skills.find(({ id }) => id === 'zymurgy')
        ?.confidence ?? 0;
    const total = embedding.embed('log_fermentation Log the temperature of a fermenting beer');
    const handMembers = new Map([['zymurgy', [{ members: 1, total }]]]);
    expect(confidenceOf({ handMembers })).toBeGreaterThan(confidenceOf({}));
    const { skills } = classifierOf({ taxonomy, handMembers })(tool);
    expect(skills[0]?.id).toBe('zymurgy');
  });

  it('[FIND-3] does not treat a renamed seeded skill as the former one', () => {
    const renamed = seeded.map(skill =>
      skill.id === 'weather'
        ? { ...skill, name: 'Beekeeping', description: 'Hives and honey', examples: [] }
        : skill,
    );
    const classify = classifierOf({ taxonomy: { revision: 2, skills: renamed } });
    const { skills } = classify(toolOf('get_forecast', 'Get the weather forecast of a city'));
    expect(skills[0]?.id).not.toBe('weather');
    expect(classify(toolOf('hive_honey', 'Honey of the hives')).skills[0]?.id).toBe('weather');
  });
});
