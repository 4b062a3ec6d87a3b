/** What an endpoint advertises for its servers: each capability that one of them has, and whose instructions and tasks. */
import type { Naming } from '../../../src/gateway/viewer.ts';
import { ServerCapabilitiesSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import { toAdvertised, type Offering } from '../../../src/gateway/capabilities.ts';
import type { Era } from '../../../src/shared/protocol.ts';

const dot: Naming = { kind: 'qualified', style: 'dot' };
const own: Naming = { kind: 'own', serverId: 's' };
const TASKS = 'io.modelcontextprotocol/tasks';
const UI = 'io.modelcontextprotocol/ui';
const LEGACY_TASKS = { cancel: {}, list: {}, requests: { tools: { call: {} } } };

const offering = (
  capabilities: object,
  { era, ...more }: { era?: Era; instructions?: string } = {},
  server = 'a',
): Offering => {
  const catalog = parseCatalog('h', JSON.stringify({ capabilities, ...more }));
  return { server, catalog, era };
};
const tools = { listChanged: true };

describe('the advertised capabilities', () => {
  it('[MCP-3] [MCP-4] are tools alone if the servers have nothing else', () => {
    const capabilities = { tools };
    expect(toAdvertised([], dot)).toEqual({ capabilities });
    expect(toAdvertised([offering({})], own)).toEqual({ capabilities });
    expect(toAdvertised([offering({ 'com.example/own': {} })], own)).toEqual({ capabilities });
  });

  it('[MCP-4] are tools alone if servers declare malformed capabilities', () => {
    for (const odd of [null, 'x', 7, [], {}]) {
      const said = { tasks: odd, extensions: odd };
      for (const era of ['legacy', 'modern'] as const) {
        expect(toAdvertised([offering(said, { era })], own, era)).toEqual({
          capabilities: { tools },
        });
      }
    }
  });

  it('[MCP-4] include what any of the servers has', () => {
    const having = (...given: object[]) =>
      toAdvertised(
        given.map(each => offering(each)),
        dot,
      ).capabilities;
    const listed = { listChanged: true };
    expect(having({ resources: {} }, {})).toEqual({ tools, resources: listed });
    expect(having({ resources: { subscribe: true } }, { resources: {} })).toEqual({
      tools,
      resources: { subscribe: true, listChanged: true },
    });
    expect(having({ resources: { subscribe: 'yes' } })).toEqual({ tools, resources: listed });
    expect(having({ prompts: {} }, { completions: {} }, { logging: {} })).toEqual({
      tools,
      prompts: listed,
      completions: {},
      logging: {},
    });
  });

  it("[MCP-3] [SEC-8] come with a server's own instructions on its own endpoint, and quotes of them elsewhere", () => {
    const saying = [
      offering({}, { instructions: 'Be brief.' }),
      offering({}, {}, 'b'),
      offering({}, { instructions: 'Be kind.' }, 'c'),
    ];
    expect(toAdvertised(saying.slice(0, 1), own).instructions).toBe('Be brief.');
    const merged = toAdvertised(saying, dot).instructions?.split('\n\n').slice(1);
    expect(merged).toEqual(['Server a:\n> Be brief.', 'Server c:\n> Be kind.']);
    expect(toAdvertised(saying.slice(1, 2), dot)).toEqual({ capabilities: { tools } });
  });
});

describe('tasks', () => {
  const tasksOf = (tasks: Era | undefined, ...given: Offering[]) => {
    const { capabilities } = toAdvertised(given, dot, tasks);
    return { tasks: capabilities['tasks'], extensions: capabilities['extensions'] };
  };
  const legacy = offering({ tasks: LEGACY_TASKS }, { era: 'legacy' });
  const modern = offering({ extensions: { [TASKS]: {} } }, { era: 'modern' });
  const none = { tasks: undefined, extensions: undefined };
  const offered = { cancel: {}, requests: { tools: { call: {} } } };

  it("[MCP-4] are advertised in the form of the client's era, for servers of that era", () => {
    expect(tasksOf('legacy', legacy, modern)).toEqual({ ...none, tasks: offered });
    expect(tasksOf('modern', legacy, modern)).toEqual({ ...none, extensions: { [TASKS]: {} } });
    expect(tasksOf(undefined, legacy, modern)).toEqual(none);
    expect(tasksOf('legacy', modern)).toEqual(none);
    expect(tasksOf('modern', legacy)).toEqual(none);
    // Each declares tasks in the form of the other era.
    const crossed = offering(
      { tasks: LEGACY_TASKS, extensions: { [TASKS]: {} } },
      { era: 'legacy' },
    );
    expect(tasksOf('modern', crossed)).toEqual(none);
    expect(tasksOf(undefined, offering({ tasks: LEGACY_TASKS }))).toEqual(none);
  });

  it('[MCP-4] are advertised for calls only, and as cancellable if one server allows it', () => {
    const of = (...tasks: unknown[]) =>
      tasksOf('legacy', ...tasks.map(each => offering({ tasks: each }, { era: 'legacy' }))).tasks;
    const requests = { tools: { call: {} } };
    expect(of({ requests })).toEqual({ requests });
    expect(of({ requests }, { requests, cancel: {} })).toEqual({ cancel: {}, requests });
    expect(of({ requests: {}, cancel: {} }, { requests })).toEqual({ requests });
    for (const odd of [
      {},
      [],
      7,
      { requests: [] },
      { requests: { tools: true } },
      { cancel: {} },
    ]) {
      expect([odd, of(odd)]).toEqual([odd, undefined]);
    }
  });
});

describe.each(['extensions', 'experimental'])('the members of %s', member => {
  const offeredOf = (...given: unknown[]) =>
    toAdvertised(
      given.map(each => offering({ [member]: each })),
      dot,
    ).capabilities[member];

  it('[MCP-4] are advertised if their owner is unambiguous', () => {
    expect(offeredOf({ 'com.example/a': { v: 1 } }, {})).toEqual({ 'com.example/a': { v: 1 } });
    expect(offeredOf({ 'com.example/a': {} }, { 'com.example/a': {} })).toBeUndefined();
    expect(offeredOf({ [UI]: {} }, { [UI]: {} })).toEqual({ [UI]: {} });
    expect(offeredOf({ [TASKS]: {} })).toBeUndefined();
    expect(offeredOf(['com.example/a'], 'x', null)).toBeUndefined();
  });

  it('[MCP-12] [MCP-4] are left out if malformed for clients', () => {
    const odd = { a: true, b: 'x', c: null, d: [], e: 7, good: {} };
    expect(offeredOf(odd)).toEqual({ good: {} });
    const { capabilities } = toAdvertised([offering({ [member]: odd })], dot);
    expect(() => ServerCapabilitiesSchema.parse(capabilities)).not.toThrow();
  });
});
