/** Which URLs the command line accepts as account pages of its gateway, and what it says when a stand-in tool replaces others. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connectByPage, findPage, pageOf } from '../../../cli/src/accounts/account-page.ts';
import { Api } from '../../../cli/src/gateway/api.ts';
import { View } from '../../../cli/src/chat/view.ts';
import { findTool } from '../../../cli/src/gateway/find-tool.ts';

const ORIGIN = 'https://portico.example.com';

describe('a page of the gateway', () => {
  it('[ACC-8] [CLI-4] is found in the text of a failure', () => {
    const text = `github: The server wants an account of your own. Connect it at ${ORIGIN}/connect/github and try again (account_required).`;
    expect(findPage(text, ORIGIN)).toEqual(pageOf(ORIGIN, 'github'));
    expect(findPage(`see ${ORIGIN}/connect/a%20b`, ORIGIN)?.server).toBe('a b');
  });

  it.each([
    'no address at all',
    'https://evil.example.com/connect/github',
    'http://portico.example.com/connect/github',
    'https://portico.example.com.evil.example/connect/github',
    'https://portico.example.com@evil.example/connect/github',
    `${ORIGIN}:444/connect/github`,
    `${ORIGIN}/other/github`,
    `${ORIGIN}/connect/`,
    `${ORIGIN}/connect/%E0%A4%A`,
    `${ORIGIN}/connect/../sign-in`,
  ])('[ACC-8] [SEC-5] is not accepted elsewhere: %s', text => {
    expect(findPage(text, ORIGIN)).toBeUndefined();
  });

  it('[ACC-8] [CLI-4] is reported for a failed call of a chat, and for no other', async () => {
    const told: string[] = [];
    const view = new View(true, async text => void told.push(text));
    const result = { type: 'result', id: '1', name: 't', preview: 'a preview' } as const;
    await view.show({ ...result, is_error: false });
    await view.show({ ...result, is_error: true });
    expect(told).toEqual(['a preview']);
  });
});

it('[ACC-8] [CLI-4] an account counts as connected only if it changed, also where the first look failed', async () => {
  const account = { server_name: 'github', needs_sign_in: null, updated_at: 'before' };
  const ended = new AbortController();
  let looks = 0;
  const server = createServer((request, response) => {
    const isList = request.url?.startsWith('/api/v1/accounts');
    if (isList) looks += 1;
    if (looks === 3) ended.abort(new Error('nobody came'));
    response.writeHead(isList && looks === 1 ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isList ? { accounts: [account] } : { principal: 'p' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const page = pageOf(origin, 'github');
    const options = { opens: false, signal: ended.signal };
    await expect(connectByPage(new Api(new URL(origin), 't'), page, options)).rejects.toThrow(
      'nobody came',
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

describe('a missing tool', () => {
  const tools = (...names: string[]) => names.map(name => ({ name }));

  it.each(['github.create_issue', 'github__create_issue'])(
    '[ACC-8] [CLI-4] %s of a server that requires an account first is reported with the account page',
    wanted => {
      for (const listed of ['github.connect', 'github__connect']) {
        expect(() => findTool(tools(listed, 'other.connect'), wanted)).toThrow(
          'portico accounts connect github',
        );
      }
    },
  );

  it('[ACC-8] [CLI-4] of a server with tools of its own is not', () => {
    expect(() => findTool(tools('vpn.connect', 'vpn.list'), 'vpn.remove')).toThrow(
      'there is no tool',
    );
    expect(() => findTool(tools('vpn.connect'), 'github.remove')).toThrow('there is no tool');
  });
});
