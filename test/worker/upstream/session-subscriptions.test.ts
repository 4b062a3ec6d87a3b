/** Subscriptions of a client that are renewed in a new session at their server. */
import { expect, it } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { SessionSubscriptions } from '../../../src/upstream/session/session-subscriptions.ts';

/** Returns subscriptions to three resources, at a server that answers as given; and what it is asked. */
function keepAt(answer: (uri: string) => object) {
  const requested: string[] = [];
  const uris = ['a:1', 'a:2', 'a:3'];
  const stored = new Map(
    uris.map(uri => [uri, { serverId: 's', uri, owner: 'o', capabilities: {} }]),
  );
  const channel = {
    async request(_method: string, params: ReadonlyMap<string, string>) {
      const uri = JSON.parse(params.get('uri') ?? '""') as string;
      requested.push(uri);
      return answer(uri);
    },
  };
  const session = { name: 's', key: 1, channel, hidden: [], forget: async () => {} };
  const subscriptions = new SessionSubscriptions({
    storage: { list: async () => stored },
    openSession: async () => session,
    onKept: async () => {},
  } as never);
  return { subscriptions, requested, uris };
}

const done = { kind: 'response', result: '{}', parsed: {} };
const refusal = { code: -32002, message: 'Gone' };

it('[MCP-4] a resource that the server refuses keeps no other from being renewed', async () => {
  const refused = { kind: 'response', error: JSON.stringify(refusal), parsed: refusal };
  const { subscriptions, requested, uris } = keepAt(uri => (uri === 'a:1' ? refused : done));
  await subscriptions.keep();
  expect(requested).toEqual(uris);
  await subscriptions.keep();
  expect(requested).toEqual([...uris, 'a:1']);
});

it('[MCP-4] a server that cannot be reached is asked once', async () => {
  const { subscriptions, requested } = keepAt(() => {
    throw new PorticoError('upstream_unreachable');
  });
  await subscriptions.keep();
  expect(requested).toEqual(['a:1']);
});
