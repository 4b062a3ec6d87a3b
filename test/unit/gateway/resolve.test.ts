/**
 * What a reference resolves to among the visible servers, where kinds of items could be confused: the caller's view of each kind decides.
 */
import type { Reference } from '../../../src/gateway/listing.ts';
import type { Naming } from '../../../src/gateway/viewer.ts';
import { describe, expect, it } from 'vitest';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { Renames } from '../../../src/gateway/naming/renames.ts';
import { taskNotFound } from '../../../src/gateway/resolve.ts';
import { createCaller, OPEN } from '../access/callers.ts';
import { createFakeGateway, createRecord } from './fakes.ts';

const there = createRecord('there');
const down = createRecord('down', { status: 'DISCONNECTED' });
const visible = { servers: [down, there] };
const catalog = parseCatalog(
  'hash-there',
  JSON.stringify({
    tools: [{ name: 'same', inputSchema: {} }],
    prompts: [{ name: 'same' }, { name: 'ask' }, { name: 'ask me' }],
    resources: [{ uri: 'file:///x', name: 'x' }],
    capabilities: { tools: {}, prompts: {}, resources: {} },
  }),
);
const sent: string[] = [];
let said = '';
const gateway = createFakeGateway({
  catalogOf: ({ status }) =>
    status === 'CONNECTED' ? catalog : parseCatalog('none', '{"capabilities":{}}'),
  send: (server, request) => {
    sent.push(`${server.name} ${request.method}`);
    return Promise.resolve({ response: { kind: 'response', result: '{}', parsed: {} } });
  },
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
  waitUntil: () => undefined,
  capabilities: {},
  questions: 'suspend',
} as const;

/** The server and method that a request is sent to, or its refusal. */
async function ask(
  caller: ReturnType<typeof createCaller>,
  naming: Naming,
  reference: Reference,
  within = visible,
) {
  sent.length = 0;
  const request = {
    method: METHODS[reference.kind],
    reference,
    params: new Map<string, string>(),
  };
  try {
    await gateway.request({ caller, visible: within, naming }, request, context);
    return sent[0];
  } catch (thrown) {
    if (!(thrown instanceof PorticoError)) throw thrown;
    said = thrown.message;
    return thrown.code;
  }
}

const everything = createCaller();
/** Sees one tool of each server, and nothing but tools. */
const ofTools = createCaller({ tools: ['there.same', 'down.same'] });
const dot: Naming = { kind: 'qualified', style: 'dot' };
const own = (serverId: string): Naming => ({ kind: 'own', serverId });

describe('a caller who sees one tool of a server', () => {
  it("[ACC-3] [MCP-9] gets no prompt of the tool's name, whatever the server's state", async () => {
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

  it('[ACC-3] [MCP-9] reads no resource of it, by any URI', async () => {
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

  it('[ACC-3] [MCP-9] does not learn the state of a server that is down from a tool that may not be read-only', async () => {
    const subject = { kind: 'everyone' } as const;
    const reading = {
      id: 'r',
      effect: 'allow',
      subject,
      server: '*',
      tool: '*',
      readOnly: true,
    } as const;
    const state = { ...OPEN, defaultAccess: 'closed', rules: [reading] } as const;
    const reader = createCaller({}, undefined, state);
    // It is unknown whether the tool is read-only, so it is hidden.
    expect(await ask(reader, dot, { kind: 'tool', name: 'down.same' })).toBe('tool_not_found');
    expect(await ask(reader, own(down.id), { kind: 'tool', name: 'same' })).toBe('tool_not_found');
  });

  it('[MCP-9] gets the state in words', async () => {
    await ask(everything, dot, { kind: 'tool', name: 'down.same' });
    expect(said).toBe('The server down is disconnected');
  });

  it('[ACC-3] does not see a server without visible items', async () => {
    const gone = createCaller({ tools: ['there.other'] });
    const namesFor = async (caller: typeof gone) =>
      (await gateway.visible({ caller, visible, naming: dot })).servers.map(({ name }) => name);
    expect(await namesFor(gone)).toEqual([]);
    expect(await namesFor(ofTools)).toEqual(['there']);
    expect(await namesFor(everything)).toEqual(['down', 'there']);
  });
});

describe('a name that an endpoint gives', () => {
  const overrides = [{ server: 'there', tool: 'same', name: 'new', description: 'Another' }];
  const renamed: Naming = {
    kind: 'qualified',
    style: 'dot',
    renames: new Renames(overrides, visible.servers),
  };

  it('[ACC-4] belongs to a tool, never to a prompt', async () => {
    expect(await ask(everything, renamed, { kind: 'tool', name: 'new' })).toBe('there tools/call');
    expect(await ask(everything, renamed, { kind: 'prompt', name: 'new' })).toBe(
      'tool_name_unprefixed',
    );
    const { items } = await gateway.list({ caller: everything, visible, naming: renamed }, 'tools');
    expect(items.map(({ name, item }) => [name, item.raw.get('description')])).toEqual([
      ['new', '"Another"'],
    ]);
    const prompts = await gateway.list({ caller: everything, visible, naming: renamed }, 'prompts');
    expect(prompts.items.map(({ name }) => name)).toEqual([
      'there.same',
      'there.ask',
      'there.ask me',
    ]);
  });

  it('[ACC-4] [ACC-3] of a hidden tool is unknown', async () => {
    const without = createCaller({ servers: [down.id] });
    expect(await ask(without, renamed, { kind: 'tool', name: 'new' })).toBe('tool_name_unprefixed');
    const other = createCaller({ tools: ['there.other'] });
    expect(await ask(other, renamed, { kind: 'tool', name: 'new' })).toBe('tool_name_unprefixed');
  });

  it('[ACC-4] of a tool that its server no longer has is unknown', async () => {
    const renames = new Renames([{ server: 'there', tool: 'gone', name: 'new' }], visible.servers);
    const naming: Naming = { kind: 'qualified', style: 'dot', renames };
    expect(await ask(everything, naming, { kind: 'tool', name: 'new' })).toBe(
      'tool_name_unprefixed',
    );
  });

  it('[ACC-4] of an absent server is reserved, and an override without a name adds none', async () => {
    const given = [
      { server: 'nobody', tool: 'same', name: 'theirs' },
      { server: 'there', tool: 'same', description: 'Another' },
    ];
    const renames = new Renames(given, visible.servers);
    const naming: Naming = { kind: 'qualified', style: 'dot', renames };
    expect(await ask(everything, naming, { kind: 'tool', name: 'theirs' })).toBe(
      'tool_name_unprefixed',
    );
    expect(await ask(everything, naming, { kind: 'tool', name: 'undefined' })).toBe(
      'tool_name_unprefixed',
    );
    expect(await ask(everything, naming, { kind: 'tool', name: 'there.same' })).toBe(
      'there tools/call',
    );
    expect(renames.origin('undefined')).toBeUndefined();
    expect(renames.of('id-there', 'same')).toEqual({ description: 'Another' });
  });

  it('[ACC-4] of a tool whose server is down reports that', async () => {
    const renames = new Renames([{ server: 'down', tool: 'same', name: 'new' }], visible.servers);
    const naming: Naming = { kind: 'qualified', style: 'dot', renames };
    expect(await ask(everything, naming, { kind: 'tool', name: 'new' })).toBe(
      'server_disconnected',
    );
  });
});

it('[MCP-8] [MCP-9] a name that fits two servers resolves to the one that is down if the other lacks it', async () => {
  const within = { servers: [there, createRecord('there__x', { status: 'DISCONNECTED' })] };
  const naming: Naming = { kind: 'qualified', style: 'underscore' };
  const reference = { kind: 'tool', name: 'there__x__same' } as const;
  expect(await ask(createCaller(), naming, reference, within)).toBe('server_disconnected');
});

describe('a task', () => {
  it('[MCP-9] that belongs to nobody is unknown, and nothing more is said', async () => {
    const of = (serverId: string): Reference => ({
      kind: 'task',
      name: 't',
      serverId,
    });
    expect(await ask(everything, dot, of('nobody'))).toBe('task_not_found');
    // The id may belong to anybody.
    expect(said).toBe(taskNotFound().message);
    expect(await ask(everything, dot, of(down.id))).toBe('server_disconnected');
    expect(await ask(everything, dot, of(there.id))).toBe('there tasks/get');
  });
});

describe('the name of a prompt', () => {
  it('[MCP-8] that was changed to fit a host is resolved through the catalog', async () => {
    const underscore: Naming = { kind: 'qualified', style: 'underscore' };
    const { items } = await gateway.list(
      { caller: everything, visible, naming: underscore },
      'prompts',
    );
    const names = items.map(({ name }) => name);
    expect(names).toHaveLength(3);
    for (const name of names) {
      expect(await ask(everything, underscore, { kind: 'prompt', name })).toBe('there prompts/get');
    }
  });
});

describe('the URI of a resource', () => {
  it('[MCP-8] names its server in any case and any spelling', async () => {
    const within = { servers: [createRecord('There')] };
    for (const name of ['There+file:///x', 'there+file:///x', 'THERE+file:///x']) {
      expect(await ask(everything, dot, { kind: 'resource', name }, within)).toBe(
        'There resources/read',
      );
    }
  });
});
