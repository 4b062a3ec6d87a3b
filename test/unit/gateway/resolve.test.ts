/** What a reference means within reach, where kinds of items could be taken for each other: each is decided by what the caller sees of its kind. */
import { describe, expect, it } from 'vitest';
import { parseCatalog } from '../../../src/catalog/catalog.ts';
import { PorticoError } from '../../../src/errors/portico-error.ts';
import { createCore } from '../../../src/gateway/core.ts';
import type { Naming, Reference } from '../../../src/gateway/gateway.ts';
import { Renames } from '../../../src/gateway/renames.ts';
import { withAccess } from '../../../src/gateway/with-access.ts';
import { createCaller } from '../access/callers.ts';
import { createRecord, findNothing } from './fakes.ts';

const there = createRecord('there');
const down = createRecord('down', { status: 'DISCONNECTED' });
const reach = { servers: [down, there] };
const catalog = parseCatalog(
  'hash-there',
  JSON.stringify({
    tools: [{ name: 'same', inputSchema: {} }],
    prompts: [{ name: 'same' }, { name: 'ask' }],
    resources: [{ uri: 'file:///x', name: 'x' }],
    capabilities: { tools: {}, prompts: {}, resources: {} },
  }),
);
const sent: string[] = [];
const gateway = withAccess({
  ...createCore({
    catalogOf: ({ status }) =>
      status === 'CONNECTED' ? catalog : parseCatalog('none', '{"capabilities":{}}'),
    findTools: findNothing,
    call: (server, request) => {
      sent.push(`${server.name} ${request.method}`);
      return Promise.resolve({
        response: { kind: 'response', result: '{}', parsed: {} },
      });
    },
  }),
  hearTasks: () => Promise.resolve({ agreed: [], ended: Promise.resolve() }),
});
const METHODS = {
  tool: 'tools/call',
  prompt: 'prompts/get',
  resource: 'resources/read',
  task: 'tasks/get',
} as const;
const context = {
  signal: new AbortController().signal,
  owner: () => 'o',
  defer: () => undefined,
  capabilities: {},
  questions: 'park',
} as const;

/** Where a request leaves for, or what it is refused with. */
async function ask(caller: ReturnType<typeof createCaller>, naming: Naming, reference: Reference) {
  sent.length = 0;
  const request = {
    method: METHODS[reference.kind],
    reference,
    params: new Map<string, string>(),
  };
  try {
    await gateway.request(caller, reach, naming, request, context);
    return sent[0];
  } catch (thrown) {
    if (thrown instanceof PorticoError) return thrown.code;
    throw thrown;
  }
}

const everything = createCaller();
/** Sees one tool of each server, and nothing beside tools. */
const ofTools = createCaller({ tools: ['there.same', 'down.same'] });
const dot: Naming = { kind: 'qualified', style: 'dot' };
const own = (serverId: string): Naming => ({ kind: 'own', serverId });

describe('a caller who sees one tool of a server', () => {
  it('[ACC-3] [MCP-9] gets no prompt of its name, wherever the server is', async () => {
    expect(await ask(ofTools, dot, { kind: 'tool', name: 'there.same' })).toBe('there tools/call');
    expect(await ask(everything, dot, { kind: 'prompt', name: 'there.same' })).toBe(
      'there prompts/get',
    );
    for (const [naming, name] of [
      [dot, 'there.same'],
      [dot, 'down.same'],
      [own(there.id), 'same'],
      [own(down.id), 'same'],
    ] as const)
      expect(await ask(ofTools, naming, { kind: 'prompt', name })).toBe('prompt_not_found');
    expect(await ask(ofTools, dot, { kind: 'tool', name: 'down.same' })).toBe(
      'server_disconnected',
    );
  });

  it('[ACC-3] [MCP-9] reads no resource of it, by no address', async () => {
    for (const [naming, name] of [
      [own(there.id), 'file:///x'],
      [own(there.id), 'file:///not-listed'],
      [own(down.id), 'file:///x'],
      [dot, 'there+file:///x'],
      [dot, 'down+file:///x'],
      [dot, 'file:///x'],
    ] as const)
      expect(await ask(ofTools, naming, { kind: 'resource', name })).toBe('resource_not_found');
    for (const [naming, name] of [
      [own(there.id), 'file:///x'],
      [own(there.id), 'file:///not-listed'],
      [dot, 'there+file:///x'],
      [dot, 'THERE+file:///x'],
    ] as const)
      expect(await ask(everything, naming, { kind: 'resource', name })).toBe(
        'there resources/read',
      );
  });

  it('[ACC-3] does not see a server of which nothing is left', async () => {
    const gone = createCaller({ tools: ['there.other'] });
    const visible = async (caller: typeof gone) =>
      (await gateway.visible(caller, reach)).servers.map(({ name }) => name);
    expect(await visible(gone)).toEqual([]);
    expect(await visible(ofTools)).toEqual(['there']);
    expect(await visible(everything)).toEqual(['down', 'there']);
  });
});

describe('a name that an endpoint gives', () => {
  const overrides = [{ server: 'there', tool: 'same', name: 'new', description: 'Another' }];
  const renamed: Naming = {
    kind: 'qualified',
    style: 'dot',
    renames: new Renames(overrides, reach.servers),
  };

  it('[ACC-4] is that of a tool, never of a prompt', async () => {
    expect(await ask(everything, renamed, { kind: 'tool', name: 'new' })).toBe('there tools/call');
    expect(await ask(everything, renamed, { kind: 'prompt', name: 'new' })).toBe(
      'tool_name_unprefixed',
    );
    const { items } = await gateway.list(everything, reach, renamed, 'tools');
    expect(items.map(({ name, item }) => [name, item.raw.get('description')])).toEqual([
      ['new', '"Another"'],
    ]);
    const prompts = await gateway.list(everything, reach, renamed, 'prompts');
    expect(prompts.items.map(({ name }) => name)).toEqual(['there.same', 'there.ask']);
  });

  it('[ACC-4] [ACC-3] of a tool that is hidden leads nowhere', async () => {
    const without = createCaller({ servers: [down.id] });
    expect(await ask(without, renamed, { kind: 'tool', name: 'new' })).toBe('tool_name_unprefixed');
  });
});

describe('a task', () => {
  it("[MCP-9] that is nobody's is told so, and nothing else", async () => {
    const of = (serverId: string): Reference => ({
      kind: 'task',
      name: 't',
      serverId,
    });
    expect(await ask(everything, dot, of('nobody'))).toBe('task_not_found');
    expect(await ask(everything, dot, of(down.id))).toBe('server_disconnected');
    expect(await ask(everything, dot, of(there.id))).toBe('there tasks/get');
  });
});
