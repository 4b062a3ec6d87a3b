/** Servers with hostile definitions: misleading names, and naughty text wherever a definition has text. */
import { ListToolsResultSchema } from '@modelcontextprotocol/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCorpus } from '../../fixtures/corpora.ts';
import { createRandom } from '../../unit/seeded.ts';
import { startGateway, TRUSTED, type Gateway } from '../support/gateway.ts';
import { listAllTools, open, textOf, type Era, type RawClient } from '../support/raw-client.ts';
import { resultText, startScripted, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { checkAnswer, findFaults } from '../support/soundness.ts';

const ERAS = ['legacy', 'modern'] as const;
/** Eras of the client and of the server. */
const CELLS = ERAS.flatMap(client => ERAS.map(server => [client, server] as const));
const naughty = loadCorpus('naughty-strings');
const names = loadCorpus('hostile-tool-names');

const tool = (name: string | null) => ({ name, inputSchema: { type: 'object' } });

let gateway: Gateway;
const upstreams: ScriptedUpstream[] = [];
const clients = {} as Record<Era, RawClient>;

const spoofs = [...new Set(names.cases.flatMap(({ spoof, target }) => [spoof, target]))];
/** A tool without a name is left out; so is one whose name is too long to be called. */
const MAX_OWN_NAME_CHARS = 800;
const usable = spoofs.filter(
  name => typeof name === 'string' && name !== '' && name.length <= MAX_OWN_NAME_CHARS,
);

beforeAll(async () => {
  gateway = await startGateway();
  for (const era of ERAS) {
    const complete = era === 'modern' ? '"resultType":"complete",' : '';
    const named = await startScripted(
      era,
      { 'tools/list': { member: 'tools', items: spoofs.map(tool) } },
      ({ id, name }) => ({
        body: resultText(
          id,
          `{${complete}"content":[{"type":"text","text":${JSON.stringify(name)}}]}`,
        ),
      }),
    );
    const texts = naughty.cases.map((text, index) => ({
      ...tool(`t${index}`),
      title: text,
      description: text,
      annotations: { title: text },
      [text]: text,
      _meta: { text },
    }));
    const prompts = naughty.cases.map((text, index) => ({ name: `p${index}${text}` }));
    const resources = naughty.cases.map(text => ({
      uri: `note://${encodeURIComponent(text.toWellFormed())}`,
      name: text,
    }));
    const worded = await startScripted(
      era,
      {
        'tools/list': { member: 'tools', items: texts },
        'prompts/list': { member: 'prompts', items: prompts },
        'resources/list': { member: 'resources', items: resources },
      },
      ({ id }) => ({ body: resultText(id, `{${complete}"content":[]}`) }),
    );
    upstreams.push(named, worded);
    await gateway.register(`names-${era}`, named.url, TRUSTED);
    await gateway.register(`words-${era}`, worded.url);
  }
  const target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
  for (const era of ERAS) clients[era] = await open(era, target);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.close()));
});

describe('names of a server', () => {
  it.each(CELLS)(
    `[MCP-8] that are misleading are listed once and call the right tool, %s client, %s server (${names.origin})`,
    async (client, server) => {
      const own = await listAllTools(clients[client]);
      const listed = own.filter(({ name }) => name.startsWith(`names-${server}.`));
      expect(new Set(listed.map(({ name }) => name)).size).toBe(usable.length);
      const faults = await findFaults(
        listed,
        ({ name }) => JSON.stringify(name),
        async ({ name }) => {
          const answer = await clients[client].call(name);
          checkAnswer(answer, client, 'tools/call');
          expect(textOf(answer)).toBe(name.slice(`names-${server}.`.length));
        },
      );
      expect(faults).toEqual([]);
    },
  );

  it.each(ERAS)(
    `[MCP-8] fit a strict host in the underscore style, and stay distinct, %s client (${names.origin})`,
    async era => {
      const { url, token } = clients[era].target;
      const client = await open(era, { url: `${url}?names=underscore`, token });
      const listed = (await listAllTools(client)).filter(({ name }) => name.startsWith('names-'));
      expect(new Set(listed.map(({ name }) => name)).size).toBe(usable.length * ERAS.length);
      for (const { name } of listed) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u);
      const random = createRandom();
      const some = Array.from({ length: 60 }, () => random.pick(listed));
      const called = new Set<string>();
      const faults = await findFaults(
        some,
        ({ name }) => name,
        async ({ name }) => {
          const answer = await client.call(name);
          checkAnswer(answer, era, 'tools/call');
          called.add(`${name.slice(0, 'names-legacy'.length)} ${textOf(answer)}`);
        },
      );
      expect(faults).toEqual([]);
      expect(called.size).toBe(new Set(some.map(({ name }) => name)).size);
    },
  );
});

describe('definitions of a server', () => {
  it.each(ERAS)(
    `[SEC-8] [MCP-4] with naughty text are listed unchanged, %s client (${naughty.origin})`,
    async era => {
      const { url, token } = clients[era].target;
      for (const server of ERAS) {
        const client = await open(era, { url: `${url}/servers/words-${server}`, token });
        const tools = await client.request('tools/list');
        checkAnswer(tools, era, 'tools/list');
        const { tools: listed } = ListToolsResultSchema.parse(tools.message.result);
        expect(listed.map(({ description }) => description)).toEqual(naughty.cases);
        const prompts = await client.request('prompts/list');
        checkAnswer(prompts, era);
        expect(prompts.message.result?.['prompts']).toHaveLength(naughty.cases.length);
        checkAnswer(await client.request('resources/list'), era);
      }
      for (const method of ['tools/list', 'prompts/list', 'resources/list']) {
        checkAnswer(await clients[era].request(method), era);
      }
      expect((await gateway.api('GET', '/api/v1/tools')).status).toBe(200);
    },
  );
});
