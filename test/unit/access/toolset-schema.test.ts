/** Definitions of toolsets: unknown names, and two tools that would get one name, are reported field by field. */
import { describe, expect, it } from 'vitest';
import { DefinitionSchema } from '../../../src/access/policy/toolset.ts';
import {
  CreateToolsetSchema,
  judgeDefinition,
  toToolsetView,
  UpdateToolsetSchema,
} from '../../../src/access/toolsets/toolset-schema.ts';

const servers = [
  { id: 's1', name: 'github' },
  { id: 's2', name: 'jira' },
];
const judge = (given: object) =>
  judgeDefinition(DefinitionSchema.parse({ include: ['*'], ...given }), servers);
const fieldsOf = (given: object) => judge(given).problems.map(({ field }) => field);

describe('judgeDefinition', () => {
  it('[ACC-4] replaces server names by ids', () => {
    const { definition, problems } = judge({
      include: ['github', 'JIRA.get_*', '*.list'],
      exclude: ['github.delete_*'],
      overrides: [{ server: 'jira', tool: 'get_issue', name: 'issue' }],
      name_style: 'underscore',
    });
    expect(problems).toEqual([]);
    expect(definition).toEqual({
      include: ['s1', 's2.get_*', '*.list'],
      exclude: ['s1.delete_*'],
      overrides: [{ server: 's2', tool: 'get_issue', name: 'issue' }],
      name_style: 'underscore',
    });
  });

  it('[ACC-4] reports every field whose server does not exist', () => {
    const overrides = [{ server: 'nobody', tool: 'x', name: 'y' }];
    expect(
      fieldsOf({ include: ['*', 'nobody.x'], exclude: ['nobody', 'jira.'], overrides }),
    ).toEqual(['include.1', 'exclude.0', 'exclude.1', 'overrides.0.server']);
  });

  it('[ACC-4] refuses one name for two tools, and names both', () => {
    const overrides = [
      { server: 'github', tool: 'a', name: 'same' },
      { server: 'github', tool: 'b', name: 'other' },
      { server: 'jira', tool: 'a', name: 'same' },
      { server: 'jira', tool: 'b', name: 'Same' },
      { server: 'jira', tool: 'c', description: 'no name' },
      { server: 'jira', tool: 'd', description: 'no name either' },
    ];
    expect(judge({ overrides }).problems).toEqual([
      { field: 'overrides.0.name', message: 'is also the name of overrides.2' },
      { field: 'overrides.2.name', message: 'is also the name of overrides.0' },
    ]);
  });

  it('[ACC-4] refuses two overrides of one tool, also when its server is named in two ways', () => {
    const overrides = [
      { server: 'github', tool: 'a', name: 'x' },
      { server: 'github', tool: 'A', name: 'y' },
      { server: 'GitHub', tool: 'a', description: 'z' },
      { server: 's1', tool: 'a', name: 'q' },
    ];
    expect(judge({ overrides }).problems).toEqual([
      { field: 'overrides.0', message: 'is for the same tool as overrides.3' },
      { field: 'overrides.2', message: 'is for the same tool as overrides.0' },
      { field: 'overrides.3', message: 'is for the same tool as overrides.0' },
    ]);
  });

  it('[ACC-4] never stores a definition that could not be read again', () => {
    const long = `a.${'x'.repeat(298)}`;
    const id = '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10';
    const given = DefinitionSchema.parse({ include: [long] });
    const { problems } = judgeDefinition(given, [{ id, name: 'a' }]);
    expect(problems.map(({ field }) => field)).toEqual(['include.0']);
  });
});

describe('the API forms', () => {
  it('[ACC-4] show current names and the path', () => {
    const { definition } = judge({
      include: ['github.x'],
      overrides: [{ server: 'jira', tool: 'a', name: 'b' }],
    });
    const toolset = { id: 't', name: 'Triage', description: '', definition };
    const view = toToolsetView({ ...toolset, revision: 3, created_at: 0, updated_at: 1000 }, [
      { id: 's1', name: 'forge' },
    ]);
    expect(view).toEqual({
      id: 't',
      name: 'Triage',
      path: '/mcp/toolsets/Triage',
      description: '',
      include: ['forge.x'],
      exclude: [],
      overrides: [{ server: 's2', tool: 'a', name: 'b' }],
      revision: 3,
      created_at: '1970-01-01T00:00:00.000Z',
      updated_at: '1970-01-01T00:00:01.000Z',
    });
  });

  it.each([
    { name: 'x' },
    { include: ['*'] },
    { name: 'x', include: [] },
    { name: 'a/b', include: ['*'] },
    { name: '', include: ['*'] },
    { name: 'x', include: ['*'], overrides: [{ server: 's', tool: 't', name: 'a__b' }] },
    { name: 'x', include: ['*'], overrides: [{ server: 's', tool: 't', name: 'a.b' }] },
    { name: 'x', include: ['*'], name_style: 'slash' },
    { name: 'x', include: ['*'], members: { groups: ['Not A Group'] } },
    { name: 'x', include: ['*'], id: 'mine' },
  ])('[ACC-4] refuse %j', body => {
    expect(CreateToolsetSchema.safeParse(body).success).toBe(false);
  });

  it('[ACC-4] keep an absent field of an update absent, and accept null to clear one', () => {
    expect(UpdateToolsetSchema.parse({})).toEqual({});
    const cleared = { name_style: null, members: null };
    expect(UpdateToolsetSchema.parse(cleared)).toEqual(cleared);
    expect(UpdateToolsetSchema.safeParse({ include: null }).success).toBe(false);
    expect(UpdateToolsetSchema.safeParse({ revision: 1 }).success).toBe(false);
  });
});
