/** A caller without an account at a server gets the link to connect one: legacy clients, by their support of links. */
import { describe, expect, it } from 'vitest';
import {
  CALLS,
  connect,
  KINDS,
  LINKS,
  linkTo,
  METHODS,
  NAMES,
  RESULTS,
  told,
  useAccountServers,
  type Kind,
  type Method,
} from '../support/account-servers.ts';
import type { Person } from '../support/call-rows.ts';
import { inSession, legacy, type RpcAnswer } from '../support/portico.ts';

const of = useAccountServers();
const { portico } = of;

/** Opens a legacy session for a client with these capabilities. */
async function open({ token }: Person, declared: object, protocolVersion: string): Promise<string> {
  const clientInfo = { name: 't', version: '1' };
  const params = { protocolVersion, capabilities: declared, clientInfo };
  const response = await portico.post(legacy('initialize', params), { token });
  return response.headers.get('mcp-session-id') ?? '';
}

async function askLegacy(
  { token }: Person,
  method: Method,
  name: Kind,
  [declared, version]: [declared: object, version: string],
  more: Record<string, string> = {},
) {
  const session = await open({ token } as Person, declared, version);
  const headers = { ...inSession(session), 'mcp-protocol-version': version, ...more };
  const answer = await portico.post(legacy(method, CALLS[method](name), 7), { token, headers });
  return answer.json<RpcAnswer>();
}

describe.each(NAMES)('a legacy client, at a server: %s', name => {
  it.each(METHODS)(
    '[ACC-8] that opens links gets the error that contains the link: %s',
    async method => {
      for (const more of [{}, { accept: 'application/json, text/event-stream' }]) {
        const answer = await askLegacy(of.ada, method, name, [LINKS, '2025-11-25'], more);
        expect(answer).toMatchObject({ id: 7, error: { code: -32042 } });
        expect(answer.error?.message).toContain(linkTo(name));
        expect(answer.error?.data).toEqual({
          elicitations: [
            {
              mode: 'url',
              elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
              url: linkTo(name),
              message: expect.stringContaining(name),
            },
          ],
        });
      }
      expect(KINDS[name].of(method)).toEqual([]);
      await connect(of.ada, name);
      const served = await askLegacy(of.ada, method, name, [LINKS, '2025-11-25']);
      expect(served.result).toMatchObject(RESULTS[method]);
      expect(await told(of.ada)).toEqual([
        ['failed', 'account_required'],
        ['failed', 'account_required'],
        ['done', null],
      ]);
    },
  );

  it('[ACC-8] that opens links gets it if the server refuses the account', async () => {
    await connect(of.ada, name);
    KINDS[name].outage = () => new Response('no', { status: 401 });
    const answer = await askLegacy(of.ada, 'tools/call', name, [LINKS, '2025-11-25']);
    KINDS[name].outage = undefined;
    expect(answer.error?.code).toBe(-32042);
  });

  it('[ACC-8] that opens links also gets it on the stream of a long call', async () => {
    await connect(of.ada, name);
    const hasBegun = Promise.withResolvers<void>();
    KINDS[name].outage = async () => {
      await hasBegun.promise;
      return new Response('no', { status: 401 });
    };
    const session = await open(of.ada, LINKS, '2025-11-25');
    const sent = { token: of.ada.token, headers: inSession(session) };
    const answer = await portico.post(legacy('tools/call', CALLS['tools/call'](name)), sent);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    hasBegun.resolve();
    const { error } = await answer.json<RpcAnswer>();
    KINDS[name].outage = undefined;
    expect(error?.code).toBe(-32042);
  });

  it.each([
    [{}, '2025-11-25'],
    [{ elicitation: {} }, '2025-11-25'],
    [{ elicitation: { form: {} } }, '2025-11-25'],
    [LINKS, '2025-06-18'],
    [LINKS, '2024-11-05'],
  ] as [object, string][])(
    '[ACC-8] gets a failure with the link, having declared %j in %s',
    async (declared, version) => {
      const { result } = await askLegacy(of.ada, 'tools/call', name, [declared, version]);
      expect(result?._meta?.['portico/reason']).toBe('account_required');
      expect(result?.content?.[0]?.text).toContain(`${linkTo(name)} `);
      for (const method of ['prompts/get', 'resources/read'] as const) {
        const { error } = await askLegacy(of.ada, method, name, [declared, version]);
        expect([error?.code, error?.data]).toEqual([4032, { connect_url: linkTo(name) }]);
        expect(error?.message).toContain(linkTo(name));
      }
    },
  );

  it('[ACC-8] without a session gets a failure with the link', async () => {
    const message = legacy('tools/call', CALLS['tools/call'](name));
    const answer = await portico.post(message, { token: of.ada.token });
    const { result } = await answer.json<RpcAnswer>();
    expect(result?.content?.[0]?.text).toContain(linkTo(name));
  });
});
