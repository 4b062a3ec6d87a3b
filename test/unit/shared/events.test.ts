/** Which notifications a change causes for one client. */
import { describe, expect, it } from 'vitest';
import {
  changedSince,
  changedText,
  covers,
  mayReceive,
  updatedTexts,
  type Subscription,
} from '../../../src/shared/events.ts';

const subscription = (uri: string, more: Partial<Subscription> = {}): Subscription => ({
  serverId: 's',
  uri,
  as: uri,
  ...more,
});
const updated = (uri: string, params = `{"uri":${JSON.stringify(uri)}}`) => ({
  serverId: 's',
  uri,
  params,
});

describe('lists', () => {
  it('[MCP-4] that changed are notified, in a fixed order', () => {
    const before = { tools: 'a', resources: 'b', prompts: 'c' };
    const changed = changedSince(before, { tools: 'x', resources: 'b', prompts: 'y' });
    expect(changed.map(list => JSON.parse(changedText(list)) as unknown)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', method: 'notifications/prompts/list_changed' },
    ]);
  });

  it('[MCP-4] that were unknown before, or are not subscribed to, are not', () => {
    expect(changedSince(undefined, { tools: 'x' })).toEqual([]);
    expect(changedSince({ tools: 'a' }, {})).toEqual([]);
    expect(changedSince({}, { tools: 'a' })).toEqual([]);
  });

  it('[MCP-9] of a server that is not visible are not', () => {
    expect([
      mayReceive(null, 's'),
      mayReceive(['s'], 's'),
      mayReceive(['t'], 's'),
      mayReceive([], 's'),
    ]).toEqual([true, true, false, false]);
  });
});

describe('resources', () => {
  it('[MCP-4] [MCP-7] carry the URI that the client used, and all else as it was sent', () => {
    const params = '{"uri":"file:///a","title":"t","x":1.0}';
    const [text] = updatedTexts(updated('file:///a', params), [
      subscription('file:///a', { as: 'S+file:///a', qualifier: 'S' }),
    ]);
    expect(text).toContain('"params":{"uri":"S+file:///a","title":"t","x":1.0}');
  });

  it('[SEC-8] never carry the id under which the gateway itself subscribes', () => {
    const key = 'io.modelcontextprotocol/subscriptionId';
    const own = [subscription('file:///a')];
    const alone = `{"uri":"file:///a","_meta":{"${key}":7}}`;
    expect(updatedTexts(updated('file:///a', alone), own)[0]).toContain(
      '"params":{"uri":"file:///a"}',
    );
    const more = `{"uri":"file:///a","_meta":{"a":1.0,"${key}":"x"}}`;
    expect(updatedTexts(updated('file:///a', more), own)[0]).toContain('"_meta":{"a":1.0}}');
  });

  it('[MCP-4] of other servers or other URIs are not notified', () => {
    const others = [subscription('file:///b'), subscription('file:///a', { serverId: 't' })];
    expect(updatedTexts(updated('file:///a'), others)).toEqual([]);
  });

  it('[MCP-4] below the subscribed one are notified under their own URI, once', () => {
    const both = [subscription('file:///a', { as: 'q+file:///a', qualifier: 'q' })];
    const texts = updatedTexts(updated('file:///a/b'), [...both, ...both]);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain('"q+file:///a/b"');
  });

  it.each([
    ['file:///a', 'file:///a', true],
    ['file:///a', 'file:///a/b', true],
    ['file:///a/', 'file:///a/b', true],
    ['file:///a', 'file:///ab', false],
    ['file:///a/b', 'file:///a', false],
  ])('[MCP-4] %s covers %s: %s', (subscribed, uri, wanted) => {
    expect(covers(subscribed, uri)).toBe(wanted);
  });
});
