/** Malformed items of a server: optional members that are broken are left out, so that no client's parser refuses the list. */
import {
  PromptSchema as Sdk1Prompt,
  ResourceSchema as Sdk1Resource,
  ResourceTemplateSchema as Sdk1Template,
  ToolSchema as Sdk1Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { KINDS, type Kind } from '../../../src/servers/catalog/catalog.ts';
import { mendItem } from '../../../src/upstream/discovery/mended-item.ts';
import { createRandom, SEED } from '../seeded.ts';

const mend = (kind: Kind, item: unknown) => mendItem(kind, JSON.stringify(item), item);
const BARE: Record<Kind, Record<string, unknown>> = {
  tools: { name: 'a', inputSchema: { type: 'object' } },
  resources: { uri: 'a:b', name: 'a' },
  resourceTemplates: { uriTemplate: 'a:{b}', name: 'a' },
  prompts: { name: 'a' },
};
const PARSERS = {
  tools: Sdk1Tool,
  resources: Sdk1Resource,
  resourceTemplates: Sdk1Template,
  prompts: Sdk1Prompt,
};

describe('[MCP-5] [MCP-12] an item of a list', () => {
  it('is unchanged, byte for byte, if it is valid', () => {
    const text =
      '{ "name":"a", "inputSchema":{"type":"object"},\n "title":"\\u0041", "more":[1.0] }';
    expect(mendItem('tools', text, JSON.parse(text))).toEqual({ text, left: undefined });
  });

  it.each<[Kind, Record<string, unknown>, string | undefined]>([
    ['tools', { title: 5 }, 'title'],
    ['tools', { description: null }, undefined],
    ['tools', { outputSchema: null, annotations: null, icons: null }, undefined],
    ['tools', { annotations: { readOnlyHint: 'perhaps' } }, 'annotations.readOnlyHint'],
    ['tools', { description: null, icons: [{ src: 5 }] }, 'icons.0.src'],
    ['tools', { _meta: [] }, '_meta'],
    ['resources', { size: 7.5 }, 'size'],
    ['resources', { size: '7' }, 'size'],
    ['resources', { size: null }, undefined],
    ['resources', { mimeType: 4 }, 'mimeType'],
    ['resources', { annotations: { audience: ['dog'] } }, 'annotations.audience.0'],
    ['resourceTemplates', { mimeType: 4 }, 'mimeType'],
    ['prompts', { arguments: null }, undefined],
    ['prompts', { description: 5 }, 'description'],
  ])('%s: %j is left out and the item stays', (kind, odd, left) => {
    const mended = mend(kind, { ...BARE[kind], ...odd, kept: 1 });
    expect(mended).toEqual({ text: JSON.stringify({ ...BARE[kind], kept: 1 }), left });
  });

  it('keeps the arguments of a prompt if one has a broken member', () => {
    const odd = [
      { name: 'x', title: 3 },
      { name: 'y', required: true, description: null },
    ];
    const text = JSON.stringify({
      name: 'a',
      arguments: [{ name: 'x' }, { name: 'y', required: true }],
    });
    expect(mend('prompts', { name: 'a', arguments: odd })).toEqual({
      text,
      left: 'arguments.0.title',
    });
  });

  it.each<[Kind, unknown, string]>([
    ['tools', { name: 'a' }, 'invalid at "inputSchema"'],
    ['tools', { name: 'a', inputSchema: null, title: 5 }, 'invalid at "inputSchema"'],
    ['tools', 'a', 'invalid'],
    ['resources', { uri: 'a:b', name: 5 }, 'invalid at "name"'],
    ['prompts', { name: 'a', arguments: {} }, 'invalid at "arguments"'],
    ['prompts', { name: 'a', arguments: [{ title: 5 }] }, 'invalid at "arguments.0.name"'],
  ])('%s: %j is refused', (kind, item, fault) => {
    expect(mend(kind, item)).toEqual({ fault });
  });

  it('is parsed once, however many of its members are broken', () => {
    const argument = (title: unknown) => ({ name: 'x', ...(title === undefined ? {} : { title }) });
    const many = (title?: unknown) => ({
      name: 'a',
      arguments: Array.from({ length: 20_000 }, () => argument(title)),
    });
    expect(mend('prompts', many(5))).toEqual({
      text: JSON.stringify(many()),
      left: 'arguments.0.title',
    });
  });

  it(`is accepted by clients' parsers, or is left out (seed ${SEED})`, () => {
    // Without `outputSchema`: it is converted for older clients when it is listed to them.
    const random = createRandom();
    const odd = [
      null,
      5,
      7.5,
      '',
      'x',
      true,
      [],
      {},
      [null],
      [{}],
      [{ name: 'x', title: 1 }],
      { a: [] },
    ];
    const members = ['name', 'title', 'description', 'inputSchema', 'annotations', 'icons'];
    members.push('_meta', 'execution', 'uri', 'size', 'mimeType', 'uriTemplate', 'arguments');
    let stayed = 0;
    for (let round = 0; round < 2_000; round += 1) {
      const kind = random.pick(KINDS);
      const item = { ...BARE[kind] };
      for (let n = random.below(4); n >= 0; n -= 1) item[random.pick(members)] = random.pick(odd);
      const mended = mend(kind, item);
      if ('fault' in mended) continue;
      stayed += 1;
      expect(PARSERS[kind].safeParse(JSON.parse(mended.text)).error?.issues).toBeUndefined();
    }
    expect(stayed).toBeGreaterThan(500);
  });
});
