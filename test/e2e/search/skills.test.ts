/**
 * AG-US3 end to end without a model: the embedded classifier, manual corrections, the vectors of skills, and what a caller sees of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { startSkilled, type SkilledGateway, type SkilledTool } from '../support/skilled-gateway.ts';

const SERVERS = '/api/v1/aggregator/servers';
const TOOLS: [string, string][] = [
  ['create_issue', 'Create a new GitHub issue'],
  ['get_forecast', 'Get the weather forecast of a city for the next days'],
  ['run_query', 'Run a SQL query against the PostgreSQL database'],
];

let skilled: SkilledGateway;
let id: string;
beforeAll(async () => {
  skilled = await startSkilled();
  id = await skilled.add('desk', TOOLS);
});
afterAll(async () => {
  await skilled?.stop();
});

const api: SkilledGateway['gateway']['api'] = (...args) => skilled.gateway.api(...args);

describe('without a model', () => {
  it('[AG-US3-AC1] [AG-US3-AC2] [AG-US3-AC3] [FIND-3] tools are classified when they are discovered', async () => {
    const issue = await skilled.whenSkilled(id, 'create_issue');
    expect(issue).toMatchObject({
      primary_skill_id: 'issue_tracking',
      is_classified: true,
      source: 'embedded',
    });
    const known = await skilled.skillsOf(id);
    expect(known.get('get_forecast')?.primary_skill_id).toBe('weather');
    expect(known.get('run_query')?.skills[0]?.id).toBe('database_operations');
    for (const { skills } of known.values()) {
      expect(skills.length).toBeGreaterThanOrEqual(1);
      expect(skills.length).toBeLessThanOrEqual(3);
      const confidences = skills.map(({ confidence }) => confidence);
      expect(confidences).toEqual(confidences.toSorted((a, b) => b - a));
    }
  });

  it('[FIND-3] a manual correction stays when the tool changes, and can be withdrawn', async () => {
    const path = `${SERVERS}/${id}/tools/run_query/skills`;
    const refused = await api('PUT', path, { skill_ids: ['no_such_skill'] });
    expect(refused.json).toMatchObject({ status: 422, errors: [{ field: 'skill_ids' }] });
    expect((await api('PUT', path, { skill_ids: ['gaming', 'education'] })).status).toBe(200);
    await skilled.change('desk', [...TOOLS.slice(0, 2), ['run_query', 'Run another SQL query']]);
    await skilled.change('desk', [
      ...TOOLS.slice(0, 2),
      ['run_query', 'Run a third'],
      ['more', 'Send an e-mail'],
    ]);
    await skilled.whenSkilled(id, 'more');
    const { json } = await api('GET', '/api/v1/tools?skill=gaming');
    expect(json['servers']).toMatchObject([
      {
        tools: [
          {
            original_name: 'run_query',
            primary_skill_id: 'gaming',
            skill_ids: ['gaming', 'education'],
          },
        ],
      },
    ]);
    expect((await api('DELETE', path)).status).toBe(204);
    await skilled.whenSkilled(id, 'run_query', ({ source }) => source === 'embedded');
  });

  it('[AG-US3-AC5] [FIND-3] the vector of a skill follows its members: similar tools are classified into it', async () => {
    const body = { name: 'Zymurgy', description: 'Zymurgy.' };
    expect((await api('POST', '/api/v1/skills', body)).status).toBe(201);
    const like = 'Log the temperature and gravity of a fermenting beer';
    const brew = await skilled.add('brew', [['log_fermentation', like]]);
    const before = await skilled.whenSkilled(brew, 'log_fermentation');
    expect(before.skills.map(skill => skill.id)).not.toContain('zymurgy');
    const path = `${SERVERS}/${brew}/tools/log_fermentation/skills`;
    expect((await api('PUT', path, { skill_ids: ['zymurgy'] })).status).toBe(200);
    const other = await skilled.add('cellar', [['log_beer', `${like} again`]]);
    const isIn = ({ skills }: SkilledTool) => skills.some(skill => skill.id === 'zymurgy');
    const found = await until('a tool like it is in the skill', 40_000, async () => {
      await api('POST', `${SERVERS}/${other}/classify`);
      return skilled.whenSkilled(other, 'log_beer', isIn, 2_000);
    });
    expect(found.source).toBe('embedded');
  });

  it('[FIND-3] [ACC-3] hidden tools count nowhere for a caller', async () => {
    await skilled.whenSkilled(id, 'get_forecast');
    const countOf = async (token?: string) => {
      const { status, json } = await api('GET', '/api/v1/skills/weather', undefined, token);
      expect(status).toBe(200);
      return json['tool_count'];
    };
    const { token } = await skilled.gateway.createToken({
      name: 'narrow',
      tools: ['desk.create_issue'],
      scopes: ['tools:read'],
    });
    await until('it is counted', 10_000, async () => ((await countOf()) === 1 ? true : undefined));
    expect(await countOf(token)).toBe(0);
    const { json } = await api('GET', '/api/v1/tools?skill=weather', undefined, token);
    expect(json).toMatchObject({ total: 0, servers: [{ tools: [] }] });
    for (const path of ['/api/v1/skills/suggestions', `${SERVERS}/${id}/skills`]) {
      expect((await api('GET', path, undefined, token)).status).toBe(403);
    }
  });

  it('[AG-US6-AC6] [AG-US6-AC7] [FIND-3] a removed server takes its tools out of search and out of the counts of skills', async () => {
    const countOf = async () =>
      Number((await api('GET', '/api/v1/skills/weather')).json['tool_count']);
    const others = await countOf();
    const gone = await skilled.add('gone', [TOOLS[1] ?? ['', '']]);
    await skilled.whenSkilled(gone, 'get_forecast');
    const whenState = (counted: number, found: number) =>
      until(`${counted} are counted and ${found} found`, 20_000, async () => {
        const body = { query: 'forecast', server_filter: [gone] };
        const { json } = await api('POST', '/api/v1/search', body);
        const isIt = (await countOf()) === counted && (json['tools'] as unknown[]).length === found;
        return isIt || undefined;
      });
    await whenState(others + 1, 1);
    expect((await api('POST', `${SERVERS}/${gone}/disconnect`)).status).toBe(200);
    await whenState(others, 0);
    expect((await api('POST', `${SERVERS}/${gone}/connect`)).status).toBeLessThan(300);
    await whenState(others + 1, 1);
    expect((await api('DELETE', `${SERVERS}/${gone}`)).status).toBe(204);
    await whenState(others, 0);
  });
});
