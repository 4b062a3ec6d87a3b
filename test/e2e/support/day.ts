/** A team's day in the console, step by step, in any browser: what exists in the morning, and what a person then does. */
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway, type Gateway } from './gateway.ts';
import { startKeyed } from './keyed-upstream.ts';
import type { Person } from './person.ts';
import { changeTools, toTool } from './offered-tools.ts';
import { startScripted } from './scripted-upstream.ts';

const KEY = 'k-4d1c-very-secret';
const READS = { annotations: { readOnlyHint: true } };
const SHOW = 'button:text-is("Show what changes")';
const TOLD = '.notice:focus';

export interface Day {
  gateway: Gateway;
  /** Token of an administrator. */
  admin: string;
  /** The steps of the day, in order; each begins where the one before ended. */
  steps: readonly (readonly [name: string, act: (person: Person) => Promise<void>])[];
  stop(): Promise<void>;
}

/** Starts the morning: two servers run, Ria exists, and nothing is registered. The caller stops it. */
export async function startDay(): Promise<Day> {
  const items = [toTool('get_note', 'Gets a note', READS), toTool('drop_note', 'Drops a note')];
  const lists = { 'tools/list': { member: 'tools', items } };
  // Calls that are stored before they are sent are counted at once.
  const env = { ...QUIET, PORTICO_POSTURE: 'closed', PORTICO_AUDIT_CALLS: 'before' };
  const [gateway, issues, notes] = await Promise.all([
    startGateway({ env }),
    startKeyed(KEY, ''),
    startScripted('legacy', lists, () => ({ body: '{}' })),
  ]);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  const { token: admin } = await gateway.createToken({ name: 'Ada', scopes });
  const ria = { name: 'Ria', groups: ['support'] };
  const { json } = await gateway.api('POST', '/api/v1/principals', ria);
  await gateway.createToken({ name: 'laptop', principal: json['id'] });
  let value = '';

  /** Changes the description of a tool of notes, which is then held. */
  async function changeNotes(): Promise<void> {
    const found = await gateway.api('GET', '/api/v1/aggregator/servers?name=notes');
    const [server] = found.json['servers'] as { id: string }[];
    if (!server) throw new Error('notes is not registered');
    const changed = [toTool('get_note', 'Gets a note, whole', READS), ...items.slice(1)];
    await changeTools(gateway, { id: server.id, upstream: notes, items }, changed);
  }

  /** Calls as Ria what she may not call. */
  async function callHidden(): Promise<void> {
    const call = { name: 'notes.drop_note', arguments: {} };
    const { status } = await gateway.api('POST', '/api/v1/tools/call', call, value);
    if (status !== 404) throw new Error(`A tool that is hidden answers ${status}`);
  }

  const steps: Day['steps'] = [
    [
      'servers',
      async ({ click, type, choose, see }) => {
        const add = async (name: string, url: string) => {
          await see('#server-name:focus');
          await type('#server-name', name);
          await type('#server-address', url);
        };
        await click('nav a:text-is("Servers")');
        await click('a:text-is("Add a server")');
        await add('issues', `${issues.origin}/mcp`);
        await choose('#server-credential', 'header');
        await type('#server-name-of-the-header', 'X-Key');
        await type('#server-value-of-the-header', KEY);
        await click('button:text("Add it")');
        await see('.outcome .badge.good');
        await click('a:text-is("Add another")');
        await add('notes', notes.url);
        await click('button:text("Add it")');
        await see('.outcome .badge.good');
        await click('a:text-is("Add another")');
        await add('wiki', `http://127.0.0.1:${await findFreePort()}/mcp`);
        await click('button:text("Add it")');
        await see('.outcome:has-text("Check that it runs") .badge.bad');
      },
    ],
    [
      'rights',
      async ({ click, type, see }) => {
        await click('nav a:text-is("Rules")');
        await click('a:text-is("Add a rule")');
        await type('label:text-is("Group") + input', 'support');
        await type('label:text-is("Server") + input', 'notes');
        await click('label:has-text("Only tools")');
        await click(SHOW);
        await see('.preview h3:has-text("Ria")');
        await click('button:text("Save the rule")');
        await see(TOLD);
      },
    ],
    [
      'toolset',
      async ({ click, type, see }) => {
        await click('nav a:text-is("Toolsets")');
        await click('a:text-is("Make a toolset")');
        await type('label:text-is("Name") + input', 'daily');
        await click('.picker-list label:has-text("get_note")');
        await click(SHOW);
        await click('button:text("Save the toolset")');
        await see(TOLD);
      },
    ],
    [
      'token',
      async ({ click, see, valueOf }) => {
        await click('nav a:text-is("People")');
        await click('th a:has-text("Ria")');
        await click('button:text("New value")');
        await click('dialog[open] button:text("New value")');
        await see('.shown-once textarea:focus');
        value = await valueOf('.shown-once textarea');
      },
    ],
    [
      'approval',
      async ({ click, see }) => {
        await changeNotes();
        await click('nav a:text-is("Approvals")');
        await click('summary:has-text("get_note")');
        await see('ins:has-text("whole")');
        await click('details[open] button:text("Approve")');
        await see(TOLD);
      },
    ],
    [
      'why',
      async ({ click, see }) => {
        await callHidden();
        await click('nav a:text-is("Activity")');
        await click('tbody tr:has-text("drop_note") a:text-is("Why?")');
        await see('h2:has-text("may not call notes.drop_note")');
        await see('.steps li');
      },
    ],
    [
      'who',
      async ({ click, type, arrive, see }) => {
        await click('nav a:text-is("Activity")');
        await type('label:text-is("Who") + input', 'Ria');
        await arrive('principal=Ria');
        await see('tbody tr:has-text("notes.drop_note")');
      },
    ],
  ];
  return {
    gateway,
    admin,
    steps,
    stop: async () => {
      await gateway.stop();
      await Promise.all([issues.close(), notes.close()]);
    },
  };
}
