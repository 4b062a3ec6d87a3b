/**
 * How a server's monitor classifies tools into skills: what it writes and when, what it leaves unchanged, and what stays after a server is
 * deleted.
 */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { loadHandMembers, loadMembers } from '../../../src/search/skills/member-store.ts';
import { listAssignments } from '../../../src/search/skills/assignment-store.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  createPortico,
  createToken,
  monitorOf,
  PATIENT,
  registerConnected,
  SERVERS,
  TRUSTED,
  whenServer,
} from '../support/portico.ts';

const portico = createPortico();
let made = 0;

async function connect(...tools: [name: string, description: string][]) {
  const name = `classified-${(made += 1)}`;
  const server = new FakeServer({
    tools: tools.map(([tool, description]) => toolOf(tool, { description })),
  });
  serve({ [name]: server });
  const { id } = await registerConnected(portico, name, TRUSTED);
  return { id, server };
}
const WEATHER: [string, string] = ['get_forecast', 'Get the weather forecast of a city'];

/** Waits until the assignment of a tool is as wanted; wakes the monitor meanwhile. */
async function whenKnown(
  id: string,
  tool: string,
  isWanted: (source: string) => boolean = source => source !== 'none',
) {
  return vi.waitFor(
    async () => {
      await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
      const known = (await listAssignments(env.DB, id)).find(row => row.tool === tool);
      expect(known?.source ?? 'unknown').toSatisfy(
        (source: string) => known !== undefined && isWanted(source),
      );
      if (!known) throw new Error('not known');
      return known;
    },
    { timeout: 10_000, interval: 50 },
  );
}
const correct = async (id: string, tool: string, skill: string) => {
  const path = `${SERVERS}/${id}/tools/${tool}/skills`;
  expect((await portico.api('PUT', path, { skill_ids: [skill] })).status).toBe(200);
};

describe('a monitor', () => {
  it('[AG-US3-AC1] [AG-US3-AC5] classifies discovered tools, and adds them to the vectors of skills', async () => {
    const { id } = await connect(WEATHER);
    const known = await whenKnown(id, 'get_forecast');
    expect(known).toMatchObject({ source: 'embedded', skills: [{ id: 'weather' }] });
    await vi.waitFor(
      async () =>
        expect((await loadMembers(env.DB)).get('weather')).toContainEqual({
          skillId: 'weather',
          members: 1,
          total: expect.any(Float32Array),
        }),
      PATIENT,
    );
  });

  it('[AG-US3-AC5] counts a correction in the vector of its skill, until it is withdrawn', async () => {
    const { id } = await connect(WEATHER);
    await whenKnown(id, 'get_forecast');
    await correct(id, 'get_forecast', 'gaming');
    await vi.waitFor(async () => {
      await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
      expect((await loadHandMembers(env.DB)).get('gaming')).toMatchObject([{ members: 1 }]);
    }, PATIENT);
    const path = `${SERVERS}/${id}/tools/get_forecast/skills`;
    expect((await portico.api('DELETE', path)).status).toBe(204);
    await whenKnown(id, 'get_forecast');
    await vi.waitFor(async () => {
      await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
      expect((await loadHandMembers(env.DB)).get('gaming')).toBeUndefined();
    }, PATIENT);
  });

  it('[FIND-3] classifies again when the taxonomy changed, and keeps corrections', async () => {
    const { id } = await connect(WEATHER, ['other', 'Weather warnings of a city']);
    await whenKnown(id, 'other');
    await correct(id, 'get_forecast', 'gaming');
    const before = (await listAssignments(env.DB, id)).find(row => row.tool === 'other');
    const skill = { name: `Storms ${made}`, description: 'Weather warnings of a city' };
    expect((await portico.api('POST', '/api/v1/skills', skill)).status).toBe(201);
    await monitorOf(id).wake();
    await vi.waitFor(async () => {
      await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
      const rows = await listAssignments(env.DB, id);
      const after = rows.find(row => row.tool === 'other');
      expect(after?.madeFor).not.toBe(before?.madeFor);
      expect(after?.skills.map(({ id: own }) => own)).toContain(`storms_${made}`);
      expect(rows.find(row => row.tool === 'get_forecast')).toMatchObject({
        source: 'hand',
        skills: [{ id: 'gaming', confidence: 1 }],
      });
    }, PATIENT);
  });

  it('[FIND-3] leaves nothing of a deleted server', async () => {
    const { id } = await connect(WEATHER);
    await whenKnown(id, 'get_forecast');
    expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
    expect(await listAssignments(env.DB, id)).toEqual([]);
    const left = await runInDurableObject(monitorOf(id), async (_object, { storage }) => [
      ...(await storage.list()).keys(),
    ]);
    expect(left).toEqual([]);
  });
});

describe('skills over REST', () => {
  it('[FIND-3] are edited at the revision that was read; a name is unique', async () => {
    const created = await portico.api('POST', '/api/v1/skills', { name: 'Metal Work' });
    expect(created.headers.get('location')).toBe('/api/v1/skills/metal_work');
    const etag = created.headers.get('etag') ?? '';
    const path = '/api/v1/skills/metal_work';
    const edit = (description: string) =>
      portico.api('PATCH', path, { description }, { headers: { 'if-match': etag } });
    expect((await edit('Forging')).status).toBe(200);
    expect((await edit('Casting')).status).toBe(412);
    const { token } = await createToken(portico, { scopes: ['servers:write'] });
    const blind = await portico.api('PATCH', path, { description: 'Casting' }, { token });
    expect([blind.status, await blind.json()]).toMatchObject([200, { tool_count: 0 }]);
    const twice = await portico.api('POST', '/api/v1/skills', { id: 'other', name: 'metal work' });
    expect(twice.status).toBe(409);
    expect((await portico.api('POST', '/api/v1/skills', { name: 'Suggestions' })).status).toBe(422);
    expect(
      (await portico.api('POST', '/api/v1/skills', { id: 'suggestions', name: 'x' })).status,
    ).toBe(422);
  });

  it('[FIND-3] a deleted skill is removed from tools; a tool that had no other is classified again', async () => {
    const { id } = await connect(WEATHER);
    await whenKnown(id, 'get_forecast');
    expect((await portico.api('POST', '/api/v1/skills', { name: 'Passing' })).status).toBe(201);
    await correct(id, 'get_forecast', 'passing');
    expect((await portico.api('DELETE', '/api/v1/skills/passing')).status).toBe(204);
    await monitorOf(id).wake();
    const known = await whenKnown(id, 'get_forecast', source => source === 'embedded');
    expect(known.skills.map(skill => skill.id)).not.toContain('passing');
  });
});
