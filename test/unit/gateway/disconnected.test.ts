/**
 * Only a caller who sees the server, or may use the requested tool, learns the state of a server that is down. For every kind of name,
 * hidden items there are answered like unknown ones.
 */
import type { Reference } from '../../../src/gateway/listing.ts';
import type { Naming, VisibleServers } from '../../../src/gateway/viewer.ts';
import { describe, expect, it } from 'vitest';
import type { AccessRule } from '../../../src/access/policy/rule.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { Renames } from '../../../src/gateway/naming/renames.ts';
import { withinToolset } from '../../../src/gateway/toolset-scope.ts';
import { restrictToCaller } from '../../../src/gateway/steps/restrict.ts';
import { ServerStatusSchema, isOffered } from '../../../src/servers/registry/status.ts';
import { createCaller, OPEN } from '../access/callers.ts';
import { catalogOf, createFakeGateway, createRecord } from './fakes.ts';

const DOWN = ServerStatusSchema.options.filter(status => !isOffered(status));
const rule = (tool: string, server = 'off'): AccessRule => ({
  id: `deny ${tool}`,
  effect: 'deny',
  subject: { kind: 'everyone' },
  server,
  tool,
  readOnly: false,
});
const stateOf = (...rules: AccessRule[]) => ({ ...OPEN, rules });

/** Callers who see `shown` of the server that is down, but not `hidden`. */
const byRule = createCaller({}, undefined, stateOf(rule('hidden')));
const byToken = createCaller({ tools: ['off.shown', 'alpha'] });
const byServer = createCaller({ servers: ['id-alpha'] });
const NARROWED = { 'a rule': byRule, 'the tools of a token': byToken };

const gateway = createFakeGateway({
  catalogOf: server => catalogOf(isOffered(server.status) ? server : createRecord('off')),
  send: () => Promise.reject(new Error('nothing is to be sent')),
});

const context = {
  signal: new AbortController().signal,
  owner: () => 'o',
  waitUntil: () => undefined,
  capabilities: {},
  questions: 'suspend',
} as const;
const METHODS = {
  tool: 'tools/call',
  prompt: 'prompts/get',
  resource: 'resources/read',
  task: 'tasks/get',
} as const;

type Refusal = { code: string; message: string; extras: unknown };

/** The refusal of a reference, without its name. */
async function refusalOf(
  caller: typeof byRule,
  visible: VisibleServers,
  naming: Naming,
  reference: Reference,
): Promise<Refusal> {
  const method = METHODS[reference.kind];
  const request = { method, reference, params: new Map<string, string>() };
  try {
    await gateway.request({ caller, visible, naming }, request, context);
  } catch (error) {
    if (!(error instanceof PorticoError)) throw error;
    const { code, message, extras } = error;
    return { code, message: message.replaceAll(reference.name, 'NAME'), extras };
  }
  throw new Error('it was not refused');
}

const overrides = [
  { server: 'off', tool: 'hidden', name: 'renamed-hidden' },
  { server: 'off', tool: 'shown', name: 'renamed-shown' },
];

describe.each(DOWN)('a server that is %s', status => {
  const visible: VisibleServers = {
    servers: [createRecord('alpha'), createRecord('off', { status })],
  };
  const dot: Naming = { kind: 'qualified', style: 'dot' };
  const own: Naming = { kind: 'own', serverId: 'id-off' };
  const renames = new Renames(overrides, visible.servers);
  const renamed: Naming = { kind: 'qualified', style: 'dot', renames };
  const NAMES: [way: string, naming: Naming, nameOf: (tool: string) => string][] = [
    ['its own name', own, tool => tool],
    ['a dot', dot, tool => `off.${tool}`],
    ['a colon', dot, tool => `off:${tool}`],
    ['underscores', dot, tool => `off__${tool}`],
    ['a slash', dot, tool => `off/${tool}`],
    ['a new name', renamed, tool => `renamed-${tool}`],
  ];

  it.each(NAMES)(
    '[ACC-3] shows its state to a caller who sees the tool, by %s',
    async (_, naming, name) => {
      for (const caller of [createCaller(), ...Object.values(NARROWED)]) {
        const told = await refusalOf(caller, visible, naming, {
          kind: 'tool',
          name: name('shown'),
        });
        expect(told).toMatchObject({
          code: 'server_disconnected',
          extras: { data: { server: { status } } },
        });
      }
    },
  );

  it.each(NAMES)(
    '[ACC-3] shows nothing to a caller who sees at most other tools, by %s',
    async (_, naming, name) => {
      for (const caller of [byToken, byServer]) {
        const hidden = await refusalOf(caller, visible, naming, {
          kind: 'tool',
          name: name('hidden'),
        });
        // The same name on a server that does not exist, or an unknown tool on the server's own endpoint.
        const nobodys = { kind: 'own', serverId: 'id-nobody' } as const;
        const unknownName = name('hidden').replace(/^off|^renamed/, 'nobody');
        const unknown = await refusalOf(caller, visible, naming.kind === 'own' ? nobodys : naming, {
          kind: 'tool',
          name: unknownName,
        });
        expect(hidden).toEqual(unknown);
        expect(['tool_not_found', 'tool_name_unprefixed']).toContain(hidden.code);
      }
    },
  );

  it.each(NAMES)(
    '[ACC-3] [MCP-9] answers a caller who sees the server the same for a hidden tool as for none, by %s',
    async (_, naming, name) => {
      const [hidden, none] = ['hidden', 'none'].map(tool => name(tool));
      const told = await refusalOf(byRule, visible, naming, { kind: 'tool', name: String(hidden) });
      const other = await refusalOf(byRule, visible, naming, { kind: 'tool', name: String(none) });
      expect(told).toEqual(other);
    },
  );

  it('[ACC-3] [MCP-9] shows nothing for prompts and resources if only tools are visible', async () => {
    for (const caller of [byToken, byServer]) {
      for (const [kind, hidden, unknown] of [
        ['prompt', 'off.ask', 'nobody.ask'],
        ['resource', 'off+file:///x', 'nobody+file:///x'],
      ] as const) {
        const told = await refusalOf(caller, visible, dot, { kind, name: hidden });
        expect(told).toEqual(await refusalOf(caller, visible, dot, { kind, name: unknown }));
        expect(told.code).toBe(`${kind}_not_found`);
        const atOwn = await refusalOf(caller, visible, own, { kind, name: 'x' });
        expect(atOwn.code).toBe(`${kind}_not_found`);
      }
    }
    for (const [kind, name] of [
      ['prompt', 'off.ask'],
      ['resource', 'off+file:///x'],
    ] as const) {
      const told = await refusalOf(byRule, visible, dot, { kind, name });
      expect(told.code).toBe('server_disconnected');
    }
  });

  it('[ACC-3] [MCP-9] shows nothing for tasks if it is not visible', async () => {
    const of = (serverId: string): Reference => ({ kind: 'task', name: 't', serverId });
    const hidden = await refusalOf(byServer, visible, dot, of('id-off'));
    expect(hidden).toEqual(await refusalOf(byServer, visible, dot, of('id-nobody')));
    expect(hidden.code).toBe('task_not_found');
    expect((await refusalOf(byRule, visible, dot, of('id-off'))).code).toBe('server_disconnected');
  });

  it('[ACC-4] shows nothing for what a toolset leaves out', async () => {
    const definition = { include: ['off.shown'], exclude: [], overrides: [] };
    const toolset = { id: 'id-set', name: 'set', description: '', definition };
    const caller = createCaller();
    const within = withinToolset(toolset, restrictToCaller(caller, visible));
    const told = (name: string) => refusalOf(caller, within, dot, { kind: 'tool', name });
    expect((await told('off.shown')).code).toBe('server_disconnected');
    expect(await told('off.hidden')).toEqual(await told('nobody.hidden'));
  });
});
