/** `portico call` at a terminal: a tool that asks for input asks the person, in both eras of its server, and gets the person's decision. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';
import { startTerminal } from '../support/terminal.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

let gateway: Gateway;
let upstreams: Upstream[];

beforeAll(async () => {
  [gateway, ...upstreams] = await Promise.all([
    startGateway(),
    startFixture('conformance-modern'),
    startFixture('conformance-legacy'),
  ]);
  const [modern, legacy] = upstreams;
  await gateway.register('modern', `${modern?.origin}/mcp`);
  await gateway.register('legacy', `${legacy?.origin}/mcp`);
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all((upstreams ?? []).map(upstream => upstream.stop()));
});

const env = () => ({ PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken });
const call = (...words: string[]) => startTerminal(['call', ...words], env());

describe.each(['modern', 'legacy'])('a tool of a %s server', server => {
  it('[CLI-4] [MCP-5] asks for the fields of its form', async () => {
    const terminal = call(`${server}.test_elicitation`, '--message', 'Who are you?');
    await terminal.see('asks: Who are you?');
    await terminal.see('username');
    terminal.type('ann');
    await terminal.see('email');
    terminal.type('ann@example.com');
    await terminal.see('{"username":"ann","email":"ann@example.com"}');
    await terminal.see('Send this?');
    terminal.type('y');
    const { code, rest } = await terminal.end();
    expect(rest).toContain('ann@example.com');
    expect(rest).toContain('action=accept');
    expect(code).toBe(0);
  });

  it.each([
    ['declines', 'n', 'decline'],
    ['leaves with Ctrl-D', CTRL_D, 'cancel'],
    ['leaves with Ctrl-C', CTRL_C, 'cancel'],
  ])('[CLI-4] [MCP-5] learns that the person %s', async (_what, key, action) => {
    const terminal = call(`${server}.test_elicitation`, '--message', 'Who?');
    await terminal.see('username');
    terminal.type('ann');
    await terminal.see('email');
    terminal.type('a@b.c');
    await terminal.see('Send this?');
    terminal.type(key);
    const { rest } = await terminal.end();
    expect(rest).toContain(`action=${action}`);
  });

  it('[CLI-4] [MCP-5] gets choices by number, title or value, once they are valid', async () => {
    const terminal = call(`${server}.test_elicitation_sep1330_enums`);
    const first = await terminal.see('untitledSingle (1 to 3, or empty): ');
    expect(first).toMatch(/1\. option1\s+2\. option2\s+3\. option3/);
    terminal.type('9');
    await terminal.see('It must be one of 1 to 3.');
    terminal.type('2');
    await terminal.see('titledSingle (');
    terminal.type('Third Option');
    await terminal.see('legacyEnum (');
    terminal.type('opt1');
    await terminal.see('untitledMulti (');
    terminal.type('1, option3');
    await terminal.see('titledMulti (');
    terminal.type('');
    await terminal.see('Send this? ');
    terminal.type('yes');
    const { rest } = await terminal.end();
    expect(rest).toContain(
      '"content":{"untitledSingle":"option2","titledSingle":"value3","legacyEnum":"opt1","untitledMulti":["option1","option3"]}',
    );
  });

  it('[CLI-4] [MCP-5] takes input typed ahead for its fields, and never for a decision', async () => {
    const terminal = call(`${server}.test_elicitation`, '--message', 'Who?');
    await terminal.see('username (');
    terminal.type('ann\ra@b.c\ry');
    await terminal.see('email (');
    await terminal.see('Send this? ');
    terminal.type('n');
    expect((await terminal.end()).rest).toContain('action=decline');
  });

  it('[CLI-4] [MCP-5] gets its defaults if nothing is typed', async () => {
    const terminal = call(`${server}.test_elicitation_sep1034_defaults`);
    for (const [label, said] of [
      ['name (', ''],
      ['age (', '31'],
      ['score (', ''],
      ['status (', ''],
      ['verified (', 'n'],
    ] as const) {
      await terminal.see(label);
      terminal.type(said);
    }
    await terminal.see('Send this? ');
    terminal.type('y');
    const { rest } = await terminal.end();
    expect(rest).toContain(
      '"content":{"name":"John Doe","age":31,"score":95.5,"status":"active","verified":false}',
    );
  });

  it('[CLI-4] [MCP-5] has the person open its address, and shows where it leads', async () => {
    const terminal = call(`${server}.test_elicitation_url`);
    await terminal.see('asks: Please open this page');
    await terminal.see('at example.com, in a browser: https://example.com/confirm');
    await terminal.see('Continue? ');
    terminal.type('y');
    expect((await terminal.end()).rest).toContain('action=accept');
  });
});

it('[CLI-4] without a terminal, reports that the tool needs a person', async () => {
  const ran = await runPortico(['call', 'modern.test_elicitation', '--message', 'Who?'], {
    env: env(),
  });
  expect(ran.code).toBe(1);
  expect(ran.out + ran.err).toMatch(/elicitation|terminal/);
});
