/** Features of one era only, in each cell that has them: ping, headers that repeat the body, caching fields, streams that resume. */
import { expect } from 'vitest';
import { readEvents } from '../../support/event-stream.ts';
import {
  modernHeaders,
  openLegacy,
  post,
  requestBody,
  textOf as rawTextOf,
} from '../../support/raw-client.ts';
import type { Answer } from '../../support/raw-client.ts';
import { eachCell, textOf } from './stand.ts';
import type { Place } from './stand.ts';

const HEADER_MISMATCH = -32020;
const targetOf = ({ gateway }: Place) => ({
  url: `${gateway.origin}/mcp`,
  token: gateway.adminToken,
});

eachCell('[MCP-1] [MCP-2] {ping: legacy, sse > *} is answered, also at one server', async cell => {
  expect(await cell.client.request('ping')).toEqual({});
  const client = await cell.alone(cell.upstream);
  expect(await client.request('ping')).toEqual({});
  await client.close();
});

/** Calls the tool that returns its headers, with headers that may be wrong. */
function callMirrored(cell: Place, more: Record<string, string>): Promise<Answer> {
  const name = cell.rich('mirrored');
  const params = JSON.stringify({ name, arguments: { region: 'us-west1' } });
  return post(targetOf(cell), requestBody('modern', 'tools/call', params, 1), {
    ...modernHeaders('tools/call', name),
    'mcp-param-region': 'us-west1',
    ...more,
  });
}

const refusal = { status: 400, message: { error: { code: HEADER_MISMATCH } } };

eachCell('[MCP-1] {Mcp-Method, Mcp-Name, checked: modern > *} must match', async cell => {
  expect(await callMirrored(cell, { 'mcp-method': 'tools/list' })).toMatchObject(refusal);
  expect(await callMirrored(cell, { 'mcp-name': cell.rich('echo') })).toMatchObject(refusal);
  expect((await callMirrored(cell, {})).status).toBe(200);
});

eachCell('[MCP-4] {Mcp-Param-*, checked: modern > *} must match', async cell => {
  expect(await callMirrored(cell, { 'mcp-param-region': 'eu-west1' })).toMatchObject(refusal);
  const answer = await callMirrored(cell, {});
  expect(answer.status).toBe(200);
  expect(rawTextOf(answer)).toContain(cell.upstream === 'modern' ? 'us-west1' : '{}');
});

eachCell(
  '[MCP-1] [MCP-4] {Mcp-Method, Mcp-Name, written: * > modern} {Mcp-Param-*, written: * > modern} repeat the body',
  async cell => {
    await cell.client.learnTools();
    const told = textOf(await cell.call(cell.rich('mirrored'), { region: 'us-west1' }));
    expect(JSON.parse(told)).toEqual({
      'mcp-method': 'tools/call',
      'mcp-name': 'mirrored',
      'mcp-param-region': 'us-west1',
    });
  },
);

eachCell(
  '[MCP-4] {ttlMs, cacheScope: modern > *} are those of the server, made private',
  async cell => {
    const { client, upstream, isModernServer } = cell;
    await client.request('resources/read', { uri: `rich-${upstream}+note://1` });
    expect(client.heard.at(-1)?.result).toMatchObject({
      ttlMs: isModernServer ? 3_000 : 0,
      cacheScope: 'private',
    });
    for (const list of ['tools', 'prompts', 'resources', 'resources/templates']) {
      await client.request(`${list}/list`);
      const { ttlMs, cacheScope } = client.heard.at(-1)?.result ?? {};
      expect([list, cacheScope, typeof ttlMs]).toEqual([list, 'private', 'number']);
      expect(Number(ttlMs)).toBeLessThanOrEqual(5_000);
    }
  },
);

eachCell('[MCP-11] {Last-Event-ID: legacy > *} resumes after the last event', async cell => {
  const target = targetOf(cell);
  const { sessionId = '' } = await openLegacy(target);
  const first = await readEvents(target, sessionId, 0);
  const [tools, prompts] = [
    'notifications/tools/list_changed',
    'notifications/prompts/list_changed',
  ] as const;
  // Other servers may send notifications meanwhile.
  await cell.trigger('test_trigger_tool_change');
  const second = await readEvents(target, sessionId, [tools], first.id);
  expect(second.methods).toContain(tools);
  await cell.trigger('test_trigger_prompt_change');
  const third = await readEvents(target, sessionId, [prompts], second.id);
  expect(third.methods).toContain(prompts);
  const again = await readEvents(target, sessionId, [tools, prompts], first.id);
  const both = [...second.methods, ...third.methods];
  expect(again.methods.slice(0, both.length)).toEqual(both.slice(0, again.methods.length));
});

eachCell("[MCP-9] {unknown names: * > *} get the code of the client's era", async cell => {
  const name = cell.of('nowhere');
  await expect(cell.call(name)).rejects.toThrow(`Tool not found: ${name}`);
  const code = cell.client.kind === 'modern' ? -32602 : -32601;
  // Notifications of list changes may arrive beside it.
  const { error } = cell.client.heard.findLast(message => message.error !== undefined) ?? {};
  expect(error?.code).toBe(code);
});
