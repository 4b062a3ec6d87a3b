/** What servers offer, in each cell: handshakes, capabilities, lists and what is in them, resources, prompts, completion. */
import { expect } from 'vitest';
import {
  conformanceResources,
  conformanceTemplate,
} from '../../../fixtures/conformance-content.ts';
import { conformanceTools } from '../../../fixtures/conformance-tools.ts';
import { richResources, UI_EXTENSION, VIEW_URI } from '../../../fixtures/rich-resources.ts';
import { richTools } from '../../../fixtures/rich-tools.ts';
import type { Json } from './clients.ts';
import { DEAD, eachCell, PAGE_SIZE } from './stand.ts';
import type { Place } from './stand.ts';

type Tool = Json & { name: string; _meta?: Json };
type Resource = Json & { uri: string };

const listTools = async ({ list }: Place) => (await list<Tool>('tools/list', 'tools')).flat();

/** Returns a tool of the rich fixture as listed through the gateway, and as defined by its server. */
async function pairOf(place: Place, name: string) {
  const tools = await listTools(place);
  const own = richTools.find(tool => tool.name === name);
  return [tools.find(tool => tool.name === place.rich(name)), { ...own, name: place.rich(name) }];
}

async function noteOf({ list, upstream }: Place): Promise<Resource | undefined> {
  const resources = (await list<Resource>('resources/list', 'resources')).flat();
  return resources.find(({ uri }) => uri === `rich-${upstream}+note://1`);
}

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

eachCell('[MCP-1] [MCP-2] {initialize: legacy, sse > *} shows server capabilities', async cell => {
  const client = await cell.alone(cell.upstream);
  await client.close();
  expect(client.opening).toMatchObject({
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'portico' },
    capabilities,
  });
});

eachCell('[MCP-1] {server/discover: modern > *} shows server capabilities', async cell => {
  const client = await cell.alone(cell.upstream);
  const discovered = await client.request('server/discover');
  await client.close();
  expect(discovered['supportedVersions']).toContain('2026-07-28');
  expect(discovered['capabilities']).toMatchObject(capabilities);
});

eachCell('[MCP-4] {extensions in the capabilities: * > *} are those of the server', async cell => {
  const client = await cell.alone(`rich-${cell.upstream}`);
  const { capabilities: shown } =
    client.kind === 'modern' ? await client.request('server/discover') : client.opening;
  await client.close();
  expect(shown).toMatchObject({ extensions: UI_EXTENSION });
});

eachCell('[MCP-3] [MCP-8] {tools/list: * > *} lists tools as their server does', async cell => {
  const tools = await listTools(cell);
  const own = tools.filter(({ name }) => name.startsWith(`${cell.upstream}.`));
  const names = conformanceTools.map(({ name }) => cell.of(name));
  expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  const schema = conformanceTools.find(({ name }) => name === 'json_schema_2020_12_tool');
  expect(own.find(({ name }) => name === cell.of('json_schema_2020_12_tool'))).toMatchObject({
    description: schema?.description,
    inputSchema: schema?.inputSchema,
  });
});

eachCell('[MCP-4] {pagination: * > *} returns each item once, in both directions', async cell => {
  const pages = await cell.list<Tool>('tools/list', 'tools');
  expect(pages.slice(0, -1).map(page => page.length)).toEqual(pages.slice(1).map(() => PAGE_SIZE));
  expect(pages.length).toBeGreaterThan(2);
  const names = pages.flat().map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const rich = names.filter(name => name.startsWith(cell.rich('')));
  expect(rich.toSorted()).toEqual(richTools.map(({ name }) => cell.rich(name)).toSorted());
  // Its server returned these in pages of two.
  const resources = (await cell.list<Resource>('resources/list', 'resources')).flat();
  const uris = resources
    .map(({ uri }) => uri)
    .filter(
      uri => uri.includes(`rich-${cell.upstream}+`) || uri.includes(`rich-${cell.upstream}/`),
    );
  expect(uris).toHaveLength(richResources.length);
});

eachCell('[MCP-4] {annotations: * > *} arrive for tools and resources', async cell => {
  const [shown, own] = await pairOf(cell, 'echo');
  expect(shown?.['annotations']).toEqual(own?.['annotations']);
  expect(await noteOf(cell)).toMatchObject({
    annotations: { audience: ['assistant'], priority: 0.5 },
  });
  const { content } = await cell.call(cell.rich('ordered'));
  expect(content[0]?.['annotations']).toEqual({ audience: ['user'], priority: 0.25 });
});

eachCell('[MCP-4] {icons: * > *} arrive for tools and resources', async cell => {
  const [shown, own] = await pairOf(cell, 'echo');
  expect(shown?.['icons']).toEqual(own?.['icons']);
  const { icons } = richResources[1] ?? {};
  expect(await noteOf(cell)).toMatchObject({ icons });
});

eachCell('[MCP-4] {_meta: * > *} arrives for items, calls and results', async cell => {
  const [shown, own] = await pairOf(cell, 'echo');
  expect(shown).toEqual(own);
  expect(await noteOf(cell)).toMatchObject({ _meta: { 'example.org/kept': [1] } });
  const { content, _meta } = await cell.call(cell.rich('ordered'));
  expect(content[2]).toMatchObject({ _meta: { 'example.org/place': 3 } });
  expect(_meta).toMatchObject({ 'example.org/trace': 'kept' });
  const sent = { 'example.org/own': { deep: [1, null, 'ü'] } };
  const told = await cell.call(cell.rich('meta'), {}, { _meta: sent });
  expect(JSON.parse(told.content[0]?.text ?? '')).toMatchObject(sent);
});

eachCell('[MCP-4] {resources/list: * > *} lists resources as their server does', async cell => {
  const resources = (await cell.list<Resource>('resources/list', 'resources')).flat();
  for (const own of conformanceResources) {
    const uri = cell.uriOf(own.uri);
    expect(resources.find(resource => resource.uri === uri)).toMatchObject({ ...own, uri });
  }
});

eachCell('[MCP-4] {resources/templates/list: * > *} shows the template', async cell => {
  const method = 'resources/templates/list';
  const templates = (await cell.list<Json>(method, 'resourceTemplates')).flat();
  const uriTemplate = cell.uriOf(conformanceTemplate.uriTemplate);
  const shown = templates.find(template => template['uriTemplate'] === uriTemplate);
  expect(shown).toMatchObject({ ...conformanceTemplate, uriTemplate });
});

eachCell('[MCP-4] {resources/read: * > *} reads text, bytes and a template', async cell => {
  const read = async (uri: string) => {
    const { contents } = await cell.client.request('resources/read', { uri: cell.uriOf(uri) });
    return (contents as Json[])[0];
  };
  expect(await read('test://static-text')).toMatchObject({
    uri: cell.uriOf('test://static-text'),
    text: 'This is the content of test://static-text.',
  });
  const binary = await read('test://static-binary');
  expect(Buffer.from(String(binary?.['blob']), 'base64').subarray(1, 4).toString()).toBe('PNG');
  const made = await read('test://template/42/data');
  expect(JSON.parse(String(made?.['text']))).toMatchObject({ id: '42', templateTest: true });
});

eachCell('[MCP-4] {prompts/list: * > *} shows prompts with their arguments', async cell => {
  const prompts = (await cell.list<Json>('prompts/list', 'prompts')).flat();
  const shown = prompts.find(({ name }) => name === cell.of('test_prompt_with_arguments'));
  expect(shown).toMatchObject({
    description: 'A prompt with two arguments',
    arguments: [{ name: 'arg1' }, { name: 'arg2' }],
  });
});

eachCell('[MCP-4] {prompts/get: * > *} returns the messages', async cell => {
  const { messages } = await cell.client.request('prompts/get', {
    name: cell.of('test_prompt_with_arguments'),
    arguments: { arg1: 'one', arg2: 'zwei ü' },
  });
  const text = "Prompt with arguments: arg1='one', arg2='zwei ü'";
  expect(messages).toEqual([{ role: 'user', content: { type: 'text', text } }]);
});

eachCell('[MCP-4] {completion/complete: * > *} completes for prompts and templates', async cell => {
  const complete = async (ref: Json, name: string, value: string) =>
    (await cell.client.request('completion/complete', { ref, argument: { name, value } }))[
      'completion'
    ];
  const prompt = { type: 'ref/prompt', name: cell.of('test_prompt_with_arguments') };
  expect(await complete(prompt, 'arg1', 'par')).toMatchObject({
    values: ['paris', 'park', 'party'],
    total: 3,
  });
  const uri = cell.uriOf(conformanceTemplate.uriTemplate);
  expect(await complete({ type: 'ref/resource', uri }, 'id', '12')).toMatchObject({
    values: ['12', '123'],
  });
});

eachCell('[MCP-4] {io.modelcontextprotocol/ui: * > *} names views that can be read', async cell => {
  const [shown, own] = await pairOf(cell, 'app');
  const uri = VIEW_URI.replace('ui://', `ui://rich-${cell.upstream}/`);
  expect(shown).toEqual({
    ...own,
    _meta: {
      ui: { resourceUri: uri, visibility: ['model', 'app'] },
      'ui/resourceUri': uri,
      'openai/outputTemplate': uri,
      'example.org/kept': VIEW_URI,
    },
  });
  const resources = (await cell.list<Resource>('resources/list', 'resources')).flat();
  expect(resources.map(resource => resource.uri)).toContain(uri);
  const { contents } = await cell.client.request('resources/read', { uri });
  expect(contents).toMatchObject([
    { uri, mimeType: 'text/html;profile=mcp-app', _meta: { ui: { prefersBorder: true } } },
  ]);
  const client = await cell.alone(`rich-${cell.upstream}`);
  const { tools } = await client.request('tools/list');
  await client.close();
  const alone = (tools as Tool[]).find(({ name }) => name === 'app');
  expect(alone?._meta).toEqual(own?.['_meta']);
});

eachCell('[MCP-12] {a dead server beside: * > *} harms no list and no call', async cell => {
  const tools = await listTools(cell);
  expect(tools.filter(({ name }) => name.startsWith(`${DEAD}.`))).toEqual([]);
  expect(tools.map(({ name }) => name)).toContain(cell.of('test_simple_text'));
  await expect(cell.call(`${DEAD}.anything`)).rejects.toThrow('Tool not found');
  const { content } = await cell.call(cell.rich('echo'), { message: 'alive' });
  expect(content).toEqual([{ type: 'text', text: 'Echo: alive' }]);
});
