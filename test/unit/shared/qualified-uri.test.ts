/** Qualified resource URIs: reversible without a look-up, for every valid server name. */
import { describe, expect, it } from 'vitest';
import { parseQualifiedUri, toQualifiedUri } from '../../../src/shared/naming/qualified-uri.ts';
import { createRandom, SEED } from '../seeded.ts';

describe('toQualifiedUri', () => {
  it.each([
    ['github', 'file:///x', 'github+file:///x'],
    ['my_server', 'demo://a', 'my.5fserver+demo://a'],
    ['9lives', 'demo://a', 'd.39lives+demo://a'],
    ['a-b', 'urn:x:y', 'a-b+urn:x:y'],
    ['app', 'ui://dash/board', 'ui://app/dash/board'],
    ['a', 'a+b+file:///x', 'a+a+b+file:///x'],
    ['a', 'file:///{path}', 'a+file:///{path}'],
  ])('[MCP-8] %s and %s', (server, uri, qualified) => {
    expect(toQualifiedUri(server, uri)).toBe(qualified);
    expect(parseQualifiedUri(qualified)).toEqual({ server, uri });
  });

  it(`[MCP-8] [MCP-7] is reversible for every name and URI, and has a scheme (seed ${SEED})`, () => {
    const random = createRandom();
    const first = [...'aZ09bd'];
    const rest = ['a', 'B', '0', '3', '9', '_', '-', 'd', '5f'];
    const uris = [
      'file:///a b',
      'ui://x/y?z=1#q',
      'ui://',
      'ui:///',
      'x+y:z',
      'no-scheme',
      '',
      'demo://\u00e9/{id}',
      'UI://x/y',
    ];
    for (let round = 0; round < 5_000; round += 1) {
      const server =
        random.pick(first) +
        Array.from({ length: random.below(12) }, () => random.pick(rest)).join('');
      const uri = random.pick(uris);
      const qualified = toQualifiedUri(server, uri);
      expect([qualified, parseQualifiedUri(qualified)]).toEqual([qualified, { server, uri }]);
      expect(/^[a-z]+:/.test(uri) ? qualified : 'a:').toMatch(/^[A-Za-z][A-Za-z0-9+.-]*:/);
    }
  });

  it('[MCP-8] yields the same server in another case if the scheme was lower-cased', () => {
    const qualified = toQualifiedUri('My_Server', 'file:///X');
    const lowered = qualified.replace(/^[^:]*/, scheme => scheme.toLowerCase());
    expect(parseQualifiedUri(lowered)).toEqual({ server: 'my_server', uri: 'file:///X' });
  });
});

describe('parseQualifiedUri', () => {
  it.each([
    '',
    '+',
    '+file:///x',
    'file:///x',
    'file:///a+b',
    'demo://a+b',
    'a/b+c',
    'ui://',
    'ui:///x',
    'ui://x',
    'plain',
  ])('[MCP-9] finds no server in %j', uri => {
    expect(parseQualifiedUri(uri)).toBeUndefined();
  });
});
