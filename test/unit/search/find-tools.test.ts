/** A search over the visible servers: filters come first, so that hidden and filtered-out tools do not affect the result. */
import type { VisibleServers } from '../../../src/gateway/viewer.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NOTHING, type View } from '../../../src/access/policy/view.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { readEmbedding } from '../../../src/search/text/embedding.ts';
import { createFindTools } from '../../../src/search/find-tools.ts';
import type { SearchRequest } from '../../../src/gateway/search.ts';
import { buildSegment, readSegment, type Segment } from '../../../src/search/index/segment.ts';
import type { ToolSkills } from '../../../src/servers/registry/tool-skills.ts';
import { createRecord } from '../gateway/fakes.ts';

const bytes = readFileSync(new URL('../../../pages/search/embedding.bin', import.meta.url));
const embedding = readEmbedding(
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
);

type Listed = [name: string, description: string, readOnly?: boolean];

const TOOLS: Record<string, Listed[]> = {
  tracker: [
    ['create_issue', 'Create an issue in a project'],
    ['list_issues', 'List the issues of a project', true],
    ['delete_issue', 'Delete an issue for ever'],
  ],
  mail: [
    ['send_mail', 'Send a mail to somebody'],
    ['search_mail', 'Search the mail box', true],
  ],
  off: [['create_issue', 'Create an issue too']],
};

const skillsOfTool = (id: string): ToolSkills => ({
  skills: [{ id, confidence: 0.9 }],
  primary: id,
  isClassified: true,
  reason: undefined,
  source: 'embedded',
});
const SKILLS = new Map([
  [
    'id-tracker',
    new Map([
      ['create_issue', skillsOfTool('issue_tracking')],
      ['list_issues', skillsOfTool('issue_tracking')],
    ]),
  ],
]);

const segmentOf = (tools: readonly Listed[]): Segment => {
  const searched = tools.map(([name, description, readOnly = false]) => ({
    name,
    description,
    readOnly,
    parameters: [],
  }));
  const segment = readSegment(buildSegment(searched, embedding).buffer);
  if (!segment) throw new Error('no segment');
  return segment;
};

/** A search over servers with these tools. */
function createSearch(tools: Record<string, Listed[]> = TOOLS) {
  const segments = new Map(Object.entries(tools).map(([name, of]) => [name, segmentOf(of)]));
  return createFindTools({
    segmentsOf: of => Promise.resolve(of.map(({ name }) => segments.get(name))),
    embedding: () => Promise.resolve(embedding),
    skillsOf: servers =>
      Promise.resolve(new Map(servers.map(({ id }) => [id, SKILLS.get(id) ?? new Map()]))),
    skillIdOf: named => Promise.resolve(named.toLowerCase()),
  });
}

const servers: Server[] = Object.keys(TOOLS).map(name => createRecord(name));
const wanted = (more: Partial<SearchRequest> = {}): SearchRequest => ({
  query: 'create an issue',
  limit: 10,
  ...more,
});
const namesOf = (found: { tools: readonly { server: Server; tool: string }[] }) =>
  found.tools.map(({ server, tool }) => `${server.name}.${tool}`);

/** Sees only tools that the function allows, and nothing but tools. */
const seeing = (key: string, tool: View['tool']): View => ({ key, rest: false, tool });

describe('a search', () => {
  it('[FIND-2] [ACC-3] reports, on request, which words no visible tool has', async () => {
    const search = createSearch();
    const query = 'create a zeppelin issue';
    const told = async (views?: Map<string, View>) =>
      (
        await search(
          { servers, ...(views ? { views } : {}) },
          wanted({ query, returnsUnmatched: true }),
        )
      ).unmatched;
    expect((await search({ servers }, wanted({ query }))).unmatched).toBeUndefined();
    expect(await told()).toEqual(['zeppelin']);
    const without = seeing('without', name => !name.includes('issue'));
    expect(await told(new Map(servers.map(({ id }) => [id, without])))).toEqual([
      'create',
      'zeppelin',
      'issue',
    ]);
  });

  it('[FIND-1] covers the connected servers and counts what was searched', async () => {
    const found = await createSearch()({ servers }, wanted());
    expect(namesOf(found)[0]).toBe('tracker.create_issue');
    expect(found.tools.length).toBe(5);
    expect(found).toMatchObject({ serversSearched: 2, toolsSearched: 5 });
  });

  it('[FIND-1] can be restricted to servers by name or id, to read-only tools, and to a skill', async () => {
    const search = createSearch();
    const byName = await search({ servers }, wanted({ servers: ['mail'] }));
    expect(namesOf(byName).toSorted()).toEqual(['mail.search_mail', 'mail.send_mail']);
    expect(await search({ servers }, wanted({ servers: ['id-mail'] }))).toEqual(byName);
    const reading = await search({ servers }, wanted({ readOnly: true }));
    expect(namesOf(reading).toSorted()).toEqual(['mail.search_mail', 'tracker.list_issues']);
    expect(reading.toolsSearched).toBe(2);
    const skilled = await search({ servers }, wanted({ skill: 'issue_tracking' }));
    expect(namesOf(skilled)).toEqual(['tracker.create_issue', 'tracker.list_issues']);
    expect(skilled.tools[0]?.skills?.primary).toBe('issue_tracking');
    const none = await search({ servers }, wanted({ servers: ['nowhere'], skill: 'x' }));
    expect(none).toEqual({ tools: [], serversSearched: 0, toolsSearched: 0 });
  });

  it('[FIND-1] [ACC-3] is exactly what it would be without the hidden tools', async () => {
    const views = new Map([
      ['id-tracker', seeing('reads', (_name, isReadOnly) => isReadOnly)],
      ['id-mail', seeing('none', () => false)],
    ]);
    const visible: VisibleServers = { servers, views };
    const without = createSearch({
      tracker: (TOOLS['tracker'] ?? []).filter(([, , readOnly]) => readOnly),
      off: [],
    });
    const bare = { servers: servers.filter(({ name }) => name !== 'mail') };
    for (const query of ['create an issue', 'delete', 'send mail', 'zzz', '']) {
      const found = await createSearch()(visible, wanted({ query }));
      expect(found).toEqual(await without(bare, wanted({ query })));
      expect(found).toMatchObject({ serversSearched: 1, toolsSearched: 1 });
    }
  });

  it('[FIND-1] treats a server that is not yet indexed as empty', async () => {
    const found = await createSearch({ mail: TOOLS['mail'] ?? [] })({ servers }, wanted());
    expect(found).toMatchObject({ serversSearched: 1, toolsSearched: 2 });
  });

  it('[ACC-3] finds nothing at a wholly hidden server', async () => {
    const views = new Map([['id-tracker', NOTHING]]);
    const found = await createSearch()({ servers, views }, wanted());
    expect(namesOf(found).toSorted()).toEqual(['mail.search_mail', 'mail.send_mail']);
    expect(found.serversSearched).toBe(1);
  });
});
