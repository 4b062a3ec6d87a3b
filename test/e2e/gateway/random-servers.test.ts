/** Random servers with JSON that no SDK writes: everything that they list and return reaches a client at their endpoint byte for byte. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memberAt, membersOf } from '../../fixtures/raw-json.ts';
import { createRandom, SEED } from '../../unit/seeded.ts';
import { startGateway, TRUSTED, type Gateway } from '../support/gateway.ts';
import { open, type Era, type RawClient } from '../support/raw-client.ts';
import { startRandom, subjectOf, type RandomServer } from '../support/random-server.ts';
import { createWorld, LISTED, type World } from '../support/random-world.ts';

const KINDS = (['legacy', 'modern'] as const).flatMap(era =>
  [false, true].map(streams => ({ era, streams, form: streams ? 'events' : 'JSON' })),
);
const WORLDS_EACH = 2;

interface Peer {
  world: World;
  server: RandomServer;
  client: RawClient;
}

let gateway: Gateway;
const peers = new Map<string, Peer[]>();
const keyOf = ({ era, form }: { era: Era; form: string }) => `${era}-${form.toLowerCase()}`;

beforeAll(async () => {
  gateway = await startGateway();
  for (const [i, kind] of KINDS.entries()) {
    const made: Peer[] = [];
    for (let n = 0; n < WORLDS_EACH; n++) {
      const seed = SEED + i * WORLDS_EACH + n;
      const world = createWorld(kind.era, seed);
      const server = await startRandom(world, kind.streams, createRandom(seed));
      const name = `${keyOf(kind)}-${n}`;
      await gateway.register(name, server.url, TRUSTED);
      const target = { url: `${gateway.origin}/mcp/servers/${name}`, token: gateway.adminToken };
      made.push({ world, server, client: await open(kind.era, target) });
    }
    peers.set(keyOf(kind), made);
  }
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([...peers.values()].flat().map(({ server }) => server.close()));
});

/** Returns the requests of a world, as raw params: each item is requested, with an odd progress token. */
function requestsOf({ lists }: World): [method: string, params: string][] {
  const meta = String.raw`"_meta":{"progressToken":"é\u00e9","mine":[1.0,-0]},"x":1e400`;
  const named = (method: string, member: string) =>
    (lists.get(method) ?? []).map(item => memberAt(item, member) ?? '""');
  const prompts = named('prompts/list', 'name');
  return [
    ...named('tools/list', 'name').map(name => {
      const given = String.raw`{"big":12345678901234567890,"\u0061":1.0}`;
      return ['tools/call', `{"name":${name},"arguments":${given},${meta}}`] as [string, string];
    }),
    ...prompts.map(name => ['prompts/get', `{"name":${name},${meta}}`] as [string, string]),
    ...named('resources/list', 'uri').map(
      uri => ['resources/read', `{"uri":${uri},${meta}}`] as [string, string],
    ),
    ...prompts.map(name => {
      const asked = '"argument":{"name":"a","value":""},"context":{"arguments":{"b":"c"}}';
      const ref = `{"type":"ref/prompt","name":${name}}`;
      return ['completion/complete', `{"ref":${ref},${asked},${meta}}`] as [string, string];
    }),
  ];
}

async function listed(client: RawClient, method: string, member: string): Promise<string[]> {
  const items: string[] = [];
  let cursor: string | undefined;
  do {
    const { resultText = '{}' } = await client.request(
      method,
      cursor === undefined ? '{}' : `{"cursor":${cursor}}`,
    );
    items.push(memberAt(resultText, member) ?? '');
    cursor = memberAt(resultText, 'nextCursor');
  } while (cursor !== undefined);
  return items;
}

describe.each(KINDS)('a random $era server that answers with $form', kind => {
  const all = () => peers.get(keyOf(kind)) ?? [];

  it(`[MCP-4] [MCP-7] is listed exactly as it wrote its items (seed ${SEED})`, async () => {
    expect(all()).toHaveLength(WORLDS_EACH);
    for (const { world, client } of all()) {
      for (const [method, member] of LISTED) {
        const items = world.lists.get(method) ?? [];
        expect(await listed(client, method, member)).toEqual([`[${items.join()}]`]);
      }
    }
  });

  it(`[MCP-4] [MCP-7] exchanges messages as if no gateway were in between (seed ${SEED})`, async () => {
    for (const { world, server, client } of all()) {
      const requests = requestsOf(world);
      expect(requests.length).toBeGreaterThan(0);
      for (const [method, params] of requests) {
        const { messages } = await client.request(method, params);
        const token = memberAt(params, '_meta', 'progressToken');
        const { notes, member, text } = world.say(method, subjectOf(params), token);
        expect([method, memberAt(messages.at(-1) ?? '{}', member)]).toEqual([method, text]);
        expect(messages.slice(0, -1)).toEqual(kind.streams ? notes : []);
        const rest = membersOf(params).filter(([name]) => name !== '_meta');
        expect(membersOf(server.asked).filter(([name]) => name !== '_meta')).toEqual(rest);
        expect(memberAt(server.asked, '_meta', 'mine')).toBe('[1.0,-0]');
      }
    }
  });
});
