/** Qualified names: what each style presents, what every call accepts, and names that hosts do not accept unchanged. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { listAllTools, open, textOf } from '../support/raw-client.ts';
import type { Era } from '../support/raw-client.ts';

const ODD = `näme.with/signs:and__more ${'long-'.repeat(12)}`;
const FITTING = /^[A-Za-z0-9_-]{1,64}$/u;
const styles = { dot: '.', colon: ':', underscore: '__' } as const;
const eras = ['legacy', 'modern'] as const;
let plain: Upstream;
let odd: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  [plain, odd, gateway] = await Promise.all([
    startFixture('many-tools', { tools: 3 }),
    startFixture('many-tools', { tools: 3, prefix: ODD }),
    startGateway(),
  ]);
  await gateway.register('plain', `${plain.origin}/mcp`);
  await gateway.register('odd', `${odd.origin}/mcp`);
  await gateway.register('plain__more', `${plain.origin}/mcp`);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([plain?.stop(), odd?.stop()]);
});

const connect = (era: Era, query = '') =>
  open(era, { url: `${gateway.origin}/mcp${query}`, token: gateway.adminToken });

describe.each(eras)('%s client', era => {
  it('[MCP-8] presents dots by default', async () => {
    const names = (await listAllTools(await connect(era))).map(tool => tool.name);
    expect(names).toContain('plain.tool-0000');
    expect(names).toContain(`odd.${ODD}tool-0002`);
  });

  it.each(['dot', 'colon', 'underscore'] as const)(
    '[MCP-8] presents the style %s, and every name it presents can be called',
    async style => {
      const client = await connect(era, `?names=${style}`);
      const names = (await listAllTools(client)).map(tool => tool.name);
      expect(names).toHaveLength(9);
      expect(new Set(names).size).toBe(9);
      expect(names).toContain(`plain${styles[style]}tool-0001`);
      const answers = await Promise.all(names.map(name => client.call(name)));
      const own = ['tool-0000', 'tool-0001', 'tool-0002'];
      const expected = [...own.map(name => ODD + name), ...own, ...own];
      expect(answers.map(textOf).toSorted()).toEqual(expected.toSorted());
    },
  );

  it('[MCP-8] limits the underscore style to what hosts accept, the same on every list', async () => {
    const list = async () => listAllTools(await connect(era, '?names=underscore'));
    const names = (await list()).map(tool => tool.name);
    expect(names.filter(name => !FITTING.test(name))).toEqual([]);
    expect((await list()).map(tool => tool.name)).toEqual(names);
  });

  it('[MCP-8] accepts every separator on every endpoint', async () => {
    for (const query of ['', '?names=colon', '?names=underscore']) {
      const client = await connect(era, query);
      for (const separator of ['.', ':', '__', '/']) {
        expect(textOf(await client.call(`plain${separator}tool-0001`))).toBe('tool-0001');
        expect(textOf(await client.call(`plain__more${separator}tool-0002`))).toBe('tool-0002');
        expect(textOf(await client.call(`odd${separator}${ODD}tool-0000`))).toBe(`${ODD}tool-0000`);
      }
    }
  });
});
