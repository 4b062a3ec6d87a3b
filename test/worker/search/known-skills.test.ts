/** Skills of tools as requests read them: cached while the server's row has the same revision of them. */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { findServer } from '../../../src/servers/registry/server-store.ts';
import {
  forgetAssignments,
  listAssignments,
  touchServerSkills,
  writeAssignments,
  type Assignment,
} from '../../../src/search/skills/assignment-store.ts';
import { createKnownSkills } from '../../../src/search/skills/known-skills.ts';
import { loadSkillId, loadTaxonomy } from '../../../src/search/skills/skill-store.ts';
import { createPortico, register, SERVERS } from '../support/portico.ts';

const portico = createPortico();
let made = 0;
async function newServer() {
  const { id } = await register(portico, `skilled-${(made += 1)}`, { auto_connect: false });
  const read = async () => {
    const server = await findServer(env.DB, id);
    if (!server) throw new Error('no such server');
    return server;
  };
  return { id, read };
}
const assigned = (tool: string, more: Partial<Assignment> = {}): Assignment => ({
  tool,
  fingerprint: 'f1',
  skills: [
    { id: 'weather', confidence: 0.8 },
    { id: 'travel_maps', confidence: 0.3 },
  ],
  reason: null,
  source: 'embedded',
  madeFor: '1 embedded',
  ...more,
});
const write = (serverId: string, assignments: readonly Assignment[]) =>
  env.DB.batch([
    ...writeAssignments(env.DB, serverId, assignments, Date.now()),
    touchServerSkills(env.DB, serverId),
  ]);

describe('skills of tools', () => {
  it('[FIND-3] [AG-US3-AC2] [AG-US3-AC3] are read with confidence and primary, or with the reason for none', async () => {
    const { id, read } = await newServer();
    await write(id, [
      assigned('forecast'),
      assigned('vague', { skills: [{ id: 'weather', confidence: 0.49 }] }),
      assigned('failed', { skills: [], reason: 'The model failed', source: 'none' }),
    ]);
    const skills = (await createKnownSkills(env.DB)([await read()])).get(id);
    expect(skills?.get('forecast')).toEqual({
      skills: [
        { id: 'weather', confidence: 0.8 },
        { id: 'travel_maps', confidence: 0.3 },
      ],
      primary: 'weather',
      isClassified: true,
      reason: undefined,
      source: 'embedded',
    });
    expect(skills?.get('vague')).toMatchObject({ primary: undefined, isClassified: true });
    expect(skills?.get('failed')).toEqual({
      skills: [],
      primary: undefined,
      isClassified: false,
      reason: 'The model failed',
      source: 'none',
    });
    expect(skills?.get('unknown')).toBeUndefined();
  });

  it('[FIND-3] are cached, and read again once the row has another revision', async () => {
    const { id, read } = await newServer();
    const batch = vi.spyOn(env.DB, 'prepare');
    const known = createKnownSkills(env.DB);
    expect((await known([await read()])).get(id)?.get('forecast')).toBeUndefined();
    await write(id, [assigned('forecast')]);
    const server = await read();
    await known([server]);
    batch.mockClear();
    expect((await known([server])).get(id)?.get('forecast')?.primary).toBe('weather');
    expect(batch).not.toHaveBeenCalled();
    await write(id, [assigned('forecast', { skills: [{ id: 'gaming', confidence: 1 }] })]);
    const after = (await known([await read()])).get(id)?.get('forecast');
    expect(after?.primary).toBe('gaming');
  });

  it('[FIND-3] a write is no edit of the server', async () => {
    const { id, read } = await newServer();
    const before = await portico.api('GET', `${SERVERS}/${id}`);
    const { skillsRevision, ...rest } = await read();
    await write(id, [assigned('forecast')]);
    const after = await portico.api('GET', `${SERVERS}/${id}`);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    expect(await after.json()).toEqual(await before.json());
    expect(await read()).toEqual({ ...rest, skillsRevision: skillsRevision + 1 });
  });

  it('[FIND-3] a manual correction is neither overwritten nor deleted', async () => {
    const { id } = await newServer();
    const own = assigned('own', { source: 'hand', skills: [{ id: 'gaming', confidence: 1 }] });
    await write(id, [own, assigned('other')]);
    await write(id, [assigned('own'), assigned('other', { fingerprint: 'f2' })]);
    await env.DB.batch([forgetAssignments(env.DB, id, ['own', 'other'])]);
    expect(await listAssignments(env.DB, id)).toEqual([own]);
  });

  it('[FIND-3] unusual names are stored unchanged; nothing is written for a deleted server', async () => {
    const { id } = await newServer();
    const odd = ['a\u0000b', '\uD800', 'x"y\\', ''].map(tool => assigned(tool));
    await write(id, odd);
    expect((await listAssignments(env.DB, id)).map(({ tool }) => tool).toSorted()).toEqual(
      odd.map(({ tool }) => tool).toSorted(),
    );
    expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
    await write(id, odd);
    expect(await listAssignments(env.DB, id)).toEqual([]);
  });
});

it('[FIND-3] a skill is found by its id and by its name, in any spelling', async () => {
  const { skills } = await loadTaxonomy(env.DB);
  const [first] = skills;
  if (!first) throw new Error('there are no skills');
  const { id, name } = first;
  expect(name).not.toBe(id);
  for (const named of [id, name, name.toUpperCase()]) {
    expect([named, await loadSkillId(env.DB, named)]).toEqual([named, id]);
  }
  expect(await loadSkillId(env.DB, 'no such skill')).toBe('no such skill');
});
