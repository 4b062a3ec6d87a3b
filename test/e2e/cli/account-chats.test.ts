/** If a model uses tools of a server at which the person has no account, ask and chat show where to connect one. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { addServer, OPENAI, startChats, type ChatGateway } from '../support/chat-gateway.ts';
import { connectNotes, startNotes, type NotesServer } from '../support/notes-server.ts';
import { runPortico } from '../support/portico-command.ts';
import { startTerminal } from '../support/terminal.ts';

let chats: ChatGateway;
let notes: NotesServer;
let token: string;
let link: string;

beforeAll(async () => {
  [chats, notes] = await Promise.all([startChats(OPENAI), startNotes()]);
  const { gateway } = chats;
  link = `${gateway.origin}/connect/notes`;
  const auth = { type: 'bearer', token: 'deployer-at-notes' };
  const connection = { url: notes.url, auth };
  // The deployment's credential reads its catalog; no person's call carries it.
  await addServer(chats, 'notes', notes.url, {
    accounts: 'per_principal',
    connection_config: connection,
  });
  const entry = { server: 'notes', tool: 'whoami' };
  await gateway.api('POST', '/api/v1/ask/allowlist', entry);
});
afterAll(async () => {
  await chats?.stop();
  notes?.stop();
});
beforeEach(async () => {
  ({ token } = await chats.gateway.createToken({ name: 'Ada' }));
});

const env = () => ({ PORTICO_URL: chats.gateway.origin, PORTICO_TOKEN: token });
const call = { name: 'notes__whoami', arguments: {} };
const plan = {
  text: JSON.stringify({ type: 'call_tool', server: 'notes', tool: 'whoami', args: {} }),
};

it('[ACC-8] [LLM-3] [CLI-4] chat gives the link to the model, and shows it in full to the person, once', async () => {
  await chats.script({ turns: [{ calls: [call] }, { calls: [call] }, { text: 'Connect it.' }] });
  const { code, out, err } = await runPortico(['chat', 'who am I?'], { env: env() });
  expect([code, out]).toEqual([0, 'Connect it.\n']);
  expect(err.match(/^ {2}\S+\/connect\/notes$/gm)).toEqual([`  ${link}`]);
  expect(JSON.stringify((await chats.requests()).at(-1))).toContain(`${link} `);
});

it.each(['?tools=chat', '?tools=ask'])(
  '[ACC-8] [LLM-3] [LLM-4] a gateway tool that uses tools gives its client the link: %s',
  async query => {
    const isChat = query === '?tools=chat';
    await chats.script({ turns: isChat ? [{ calls: [call] }, { text: 'No.' }] : [plan] });
    const given = isChat ? { message: 'who am I?' } : { request: 'who am I?' };
    const answer = await fetch(`${chats.gateway.origin}/mcp${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: isChat ? 'chat' : 'ask', arguments: given },
      }),
    });
    const text = await answer.text();
    const seen = isChat ? JSON.stringify((await chats.requests()).at(-1)) : text;
    expect(seen).toContain(`${link} `);
  },
);

it('[ACC-8] [LLM-4] [CLI-4] ask at a terminal waits for the account and asks again; elsewhere it fails with the link', async () => {
  await chats.script({ turns: [plan] });
  const bare = await runPortico(['ask', 'who am I?'], { env: env() });
  expect([bare.code, bare.err]).toEqual([1, expect.stringContaining(`${link} `)]);
  await chats.script({ turns: [plan, plan] });
  const terminal = startTerminal(['ask', 'who am I?'], env());
  await terminal.see(link);
  await terminal.see('Waiting for your account');
  await connectNotes(chats.gateway, token, 'ada');
  await terminal.see('You are ADA-AT-NOTES');
  expect((await terminal.end()).code).toBe(0);
});
