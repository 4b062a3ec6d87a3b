/** Tools for which a model gave no answer: they are asked about again, later, and their earlier answers count only where they may. */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ModelFailure, type Model } from '../../../src/models/model-port.ts';
import {
  listAssignments,
  renewAssignments,
  touchServerSkills,
} from '../../../src/search/skills/assignment-store.ts';
import { Classifying } from '../../../src/search/skills/classifying.ts';
import { createLlmWay } from '../../../src/search/skills/llm-way.ts';
import { loadTaxonomy } from '../../../src/search/skills/skill-store.ts';
import { writeSuggestions } from '../../../src/search/skills/suggestion-store.ts';
import type { Embedding } from '../../../src/search/text/embedding.ts';
import { toCatalogText } from '../../../src/servers/catalog/catalog.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { createPortico, register } from '../support/portico.ts';

const portico = createPortico();
const others = { resources: [], resourceTemplates: [], prompts: [] };
const toCatalog = (names: readonly string[]) => {
  const tools = names.map(name => JSON.stringify({ name, inputSchema: { type: 'object' } }));
  return toCatalogText({ items: { tools, ...others }, ttlMs: {}, capabilities: {} });
};
const EMBEDDING = { dimensions: 4, embed: () => new Float32Array(4) } as unknown as Embedding;
const HOUR_MS = 3_600_000;
let made = 0;

/** A server whose tools a model puts into these skills; the model leaves out a tool without any, and fails where there are none. */
async function createWorld() {
  const { id } = await register(portico, `open-${(made += 1)}`, { auto_connect: false });
  const asked: string[][] = [];
  const world = {
    skills: {} as Record<string, string[]> | undefined,
    asked,
    wakes: [] as number[],
    tools: ['a', 'b'],
  };
  const model: Model = {
    name: `model-${made}`,
    async complete({ user, schema }) {
      const tools = z
        .array(z.object({ index: z.number(), name: z.string() }))
        .parse(JSON.parse(user.split('\n')[2] ?? '[]'));
      asked.push(tools.map(({ name }) => name));
      const { skills } = world;
      if (!skills) throw new ModelFailure('unavailable');
      const answers = tools.flatMap(({ index, name }) =>
        skills[name]
          ? [{ index, skills: skills[name].map(skill => ({ id: skill, confidence: 0.9 })) }]
          : [],
      );
      const value = { tools: answers.map(answer => ({ ...answer, suggestion: null })) };
      return { value: schema.type.parse(value), tokens: 1 };
    },
  };
  const kept = new Map<string, unknown>();
  const classifying = new Classifying({
    db: env.DB,
    storage: {
      get: async (key: string) => kept.get(key),
      put: async (key: string, value: unknown) => void kept.set(key, value),
    } as unknown as DurableObjectStorage,
    way: createLlmWay(env.DB, model),
    embedding: async () => EMBEDDING,
    findCatalog: async () => toCatalog(world.tools),
    wake: async at => void world.wakes.push(at),
  });
  const follow = async () => {
    const { skills_revision: skillsRevision } = z
      .object({ skills_revision: z.number() })
      .parse(
        await env.DB.prepare('SELECT skills_revision FROM servers WHERE id = ?').bind(id).first(),
      );
    const { revision: taxonomyRevision } = await loadTaxonomy(env.DB);
    const facts = {
      id,
      name: 'open',
      description: '',
      status: 'CONNECTED',
      catalogHash: world.tools.join(),
    };
    await classifying.follow({ ...facts, skillsRevision, taxonomyRevision } as unknown as Server);
    return Object.fromEntries(
      (await listAssignments(env.DB, id)).map(({ tool, skills, reason }) => [
        tool,
        skills[0]?.id ?? reason,
      ]),
    );
  };
  return { id, world, follow };
}

afterEach(() => void vi.restoreAllMocks());

it('[AG-US3-AC4] a tool that an answer leaves out is asked about again, later', async () => {
  const { world, follow } = await createWorld();
  world.skills = { a: ['weather'] };
  expect(await follow()).toEqual({ a: 'weather', b: 'The model gave no answer for it' });
  expect(world.wakes).toHaveLength(1);
  world.skills = { b: ['gaming'] };
  await follow();
  expect(world.asked).toEqual([['a', 'b']]);
  vi.spyOn(Date, 'now').mockReturnValue(world.wakes[0] ?? 0);
  expect(await follow()).toEqual({ a: 'weather', b: 'gaming' });
  expect(world.asked).toEqual([['a', 'b'], ['b']]);
});

it('[AG-US3-AC4] a tool that every answer leaves out is asked about once a day in the end', async () => {
  const { id, world, follow } = await createWorld();
  world.skills = { a: ['weather'] };
  const clock = vi.spyOn(Date, 'now');
  clock.mockReturnValue(0);
  for (let n = 0; n < 14; n += 1) {
    await follow();
    clock.mockReturnValue(world.wakes.at(-1) ?? 0);
  }
  expect(world.asked).toHaveLength(14);
  const pauses = world.wakes.map((at, n) => (at - (world.wakes[n - 1] ?? 0)) / HOUR_MS);
  expect(Math.max(...pauses.slice(0, 11))).toBe(1);
  expect(pauses.slice(11)).toEqual([24, 24, 24]);
  await env.DB.batch([renewAssignments(env.DB, id), touchServerSkills(env.DB, id)]);
  world.skills = { a: ['weather'], b: ['gaming'] };
  expect(await follow()).toEqual({ a: 'weather', b: 'gaming' });
});

it('[AG-US3-AC4] a tool is asked about also where the model never answers about those before it', async () => {
  const { world, follow } = await createWorld();
  world.tools = Array.from({ length: 45 }, (_, n) => `tool-${n}`);
  world.skills = { 'tool-44': ['gaming'] };
  expect((await follow())['tool-44']).not.toBe('gaming');
  expect(world.asked.flat()).not.toContain('tool-44');
  vi.spyOn(Date, 'now').mockReturnValue(world.wakes[0] ?? 0);
  expect((await follow())['tool-44']).toBe('gaming');
});

it('[AG-US3-AC4] a failure after a change, or beside answers, is the first one again', async () => {
  const { world, follow } = await createWorld();
  const clock = vi.spyOn(Date, 'now').mockReturnValue(0);
  /** Fails so often that the model is asked once an hour. */
  const fail = async () => {
    world.skills = undefined;
    for (let n = 0; n < 9; n += 1) {
      await follow();
      clock.mockReturnValue(world.wakes.at(-1) ?? 0);
    }
    expect((world.wakes.at(-1) ?? 0) - (world.wakes.at(-2) ?? 0)).toBe(HOUR_MS);
  };
  const next = async () => {
    const now = Date.now();
    await follow();
    return (world.wakes.at(-1) ?? 0) - now;
  };
  await fail();
  world.tools = ['a', 'b', 'c'];
  expect(await next()).toBe(30_000);
  await fail();
  world.skills = { a: ['weather'] };
  expect(await next()).toBe(30_000);
});

it('[AG-US3-AC8] a skill that was suggested for a tool goes with the tool', async () => {
  const { id, world, follow } = await createWorld();
  world.skills = { a: [], b: [] };
  await follow();
  const suggested = { id: `for_b_${made}`, name: `for_b_${made}`, description: '', tool: 'b' };
  await env.DB.batch(writeSuggestions(env.DB, id, ['b'], [suggested], 0));
  const find = () =>
    env.DB.prepare('SELECT id FROM skill_suggestions WHERE id = ?').bind(suggested.id).first();
  expect(await find()).not.toBeNull();
  world.tools = ['a'];
  await follow();
  expect(await find()).toBeNull();
});

it('[FIND-3] a tool to be classified again is asked about again also after a failure', async () => {
  const { id, world, follow } = await createWorld();
  world.skills = { a: [], b: [] };
  await follow();
  await env.DB.batch([renewAssignments(env.DB, id), touchServerSkills(env.DB, id)]);
  world.skills = undefined;
  await follow();
  vi.spyOn(Date, 'now').mockReturnValue(world.wakes[0] ?? 0);
  world.skills = { a: ['weather'], b: ['gaming'] };
  expect(await follow()).toEqual({ a: 'weather', b: 'gaming' });
  expect(world.asked).toHaveLength(3);
});
