/** Names for imported servers, and the handling of placeholders: the same for the same file. */
import { describe, expect, it } from 'vitest';
import { assignNames, toServerName } from '../../../src/servers/transfer/import-names.ts';
import {
  fillAddress,
  fillHeader,
  toSecretName,
} from '../../../src/servers/transfer/placeholders.ts';
import { SERVER_NAME } from '../../../src/servers/registry/server-schema.ts';
import { createRandom, SEED } from '../seeded.ts';

describe('names', () => {
  it.each([
    ['github', 'github'],
    ['GitHub-MCP_2', 'GitHub-MCP_2'],
    ['weather service', 'weather-service'],
    ['Linear (remote)', 'Linear-remote'],
    ['Café Münster', 'Cafe-Munster'],
    ['a.b:c/d', 'a-b-c-d'],
    ['--x--', 'x'],
    ['ﬁle', 'file'],
    ['日本語', undefined],
    ['', undefined],
    ['x'.repeat(80), 'x'.repeat(63)],
    [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
  ])('[REG-6] %j becomes %j', (given, name) => {
    expect(toServerName(given)).toBe(name);
  });

  it('[REG-6] that would collide get numbers; a name that needs no change stays', () => {
    expect(assignNames(['a b', 'a-b', 'a.b', 'A-B', '日', '本'])).toEqual([
      'a-b-3',
      'a-b',
      'a-b-4',
      'A-B-2',
      'server',
      'server-2',
    ]);
  });

  it(`[REG-6] are valid, unique and stable for any file (seed ${SEED})`, () => {
    const random = createRandom();
    const alphabet = ['a', 'B', ' ', '.', '-', '_', 'é', '日', '9', '\u0000', 'x'.repeat(40)];
    for (let round = 0; round < 300; round += 1) {
      const given = Array.from({ length: 1 + random.below(12) }, () =>
        Array.from({ length: random.below(5) }, () => random.pick(alphabet)).join(''),
      );
      const names = assignNames(given);
      expect(names.filter(name => !SERVER_NAME.test(name))).toEqual([]);
      expect(new Set(names.map(name => name.toLowerCase())).size).toBe(given.length);
      expect(assignNames(given)).toEqual(names);
    }
  });
});

describe('placeholders', () => {
  it.each([
    ['Bearer ${GITHUB_PAT}', 'Bearer ${GITHUB_PAT}', ['GITHUB_PAT']],
    ['${env:Events_Token}', '${EVENTS_TOKEN}', ['EVENTS_TOKEN']],
    ['${input:figma-token}', '${FIGMA_TOKEN}', ['FIGMA_TOKEN']],
    ['${API_KEY:-none}', '${API_KEY}', ['API_KEY']],
    ['Bearer {env:JIRA}', 'Bearer ${JIRA}', ['JIRA']],
    ['Bearer ${{ secrets.WIKI }}', 'Bearer ${WIKI}', ['WIKI']],
    ['${A}${B}${A}', '${A}${B}${A}', ['A', 'B']],
    ['plain $5 {x}', 'plain $5 {x}', []],
  ])('[REG-6] a header %j refers to secrets', (value, text, names) => {
    expect(fillHeader(value)).toEqual({ text, names });
  });

  it.each(['{{USER_ID}}', '${', '${}', '${123}', 'a ${b', '${a${b}}'])(
    '[REG-6] a header %j is a problem',
    value => {
      expect(fillHeader(value)).toEqual({ problem: expect.any(String) as string });
    },
  );

  it('[REG-6] an address may have defaults, and no other placeholders', () => {
    const text = 'https://api.example.com/sse';
    expect(fillAddress('${BASE:-https://api.example.com}/sse')).toEqual({ text, names: [] });
    for (const address of ['https://${HOST}/', 'https://{env:HOST}/', '{{URL}}', '${input:url}']) {
      expect(fillAddress(address)).toEqual({ problem: expect.any(String) as string });
    }
  });

  it.each([
    ['github-token', 'GITHUB_TOKEN'],
    ['__x__', 'X'],
    ['9lives', 'LIVES'],
    ['123', undefined],
    ['a'.repeat(80), 'A'.repeat(64)],
  ])('[REG-6] the name %j becomes the secret name %j', (text, name) => {
    expect(toSecretName(text)).toBe(name);
  });
});
