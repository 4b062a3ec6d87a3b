/** The demo end to end: ask finds and fetches, deleting and closing are refused before any call, and every stage is in the trace. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giveScript, requestsTo } from '../../fixtures/model-control.ts';
import { until } from '../../fixtures/start-fixture.ts';
import {
  ask as askDemo,
  plan,
  spansOf,
  startAskDemo,
  type AskDemo,
  type Asked,
} from '../support/ask-demo.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';
import { clients } from '../support/sdk-clients.ts';

let demo: AskDemo;
const callsOf = async (server: string) => (await demo.servers[server]?.counters())?.['calls'];
const ask = (request: string, turns: { text: string }[], more: object = {}) =>
  askDemo(demo, request, turns, more);

const portico = (args: string[]): Promise<Ran> =>
  runPortico(args, {
    env: { PORTICO_URL: demo.gateway.origin, PORTICO_TOKEN: demo.gateway.adminToken },
  });

beforeAll(async () => {
  demo = await startAskDemo();
  for (const tool of ['search_*', 'fetch_*', 'get_ticket']) await demo.allow({ server: '*', tool });
});
afterAll(() => demo?.stop());

describe('the demo', () => {
  it('[LLM-4] finds, fetches and reads with one call each, and returns a typed answer with evidence', async () => {
    const found = await ask(
      'find the document about travel',
      [
        plan('documents', 'search_documents', { query: 'travel' }),
        {
          text: JSON.stringify({
            claims: [
              { text: 'There is one about expenses.', evidence: 'Travel expenses 2026' },
              { text: 'There are many.', evidence: 'hundreds of documents' },
            ],
          }),
        },
      ],
      { summarize: true },
    );
    expect(found).toMatchObject({
      verdict: { decision: 'allowed', reason: 'called' },
      result: { structuredContent: { documents: [{ id: 'doc-1' }] } },
      typed: { status: 'valid' },
      summary: { claims: [{ evidence: 'Travel expenses 2026' }], dropped: 1 },
      usage: { calls: 1, questions: 2 },
    });
    const fetched = await ask('read doc-2', [plan('documents', 'fetch_document', { id: 'doc-2' })]);
    expect(fetched.result).toMatchObject({ structuredContent: { title: 'Incident handbook' } });
    const ticket = await ask('ticket 1002?', [
      plan('tickets', 'get_ticket', { number: 'INC-1002' }),
    ]);
    expect(ticket.result).toMatchObject({ structuredContent: { state: 'open' } });
    const policy = await ask('remote work', [
      plan('policies', 'fetch_policy', { key: 'remote-work' }),
    ]);
    expect(policy.typed).toEqual({ status: 'valid' });
    const broken = await ask('the old one', [
      plan('policies', 'fetch_policy', { key: 'withdrawn' }),
    ]);
    expect(broken.typed).toMatchObject({ status: 'mismatch' });
    expect(broken.result).toMatchObject({ structuredContent: { title: 17 } });
    expect([
      await callsOf('documents'),
      await callsOf('tickets'),
      await callsOf('policies'),
    ]).toEqual([2, 1, 2]);
  });

  it.each([
    ['delete doc-1', plan('documents', 'delete_document', { id: 'doc-1' }), 'not_allowed'],
    ['close INC-1002', plan('tickets', 'close_ticket', { number: 'INC-1002' }), 'not_allowed'],
    ['delete policy', plan('policies', 'delete_policy', {}), 'unknown_tool'],
    [
      'delete doc-1',
      plan('documents', 'fetch_document', { id: '1; delete' }),
      'arguments_do_not_fit',
    ],
    ['delete doc-1', { text: 'I would rather delete it myself.' }, 'plan_not_json'],
  ])('[LLM-4] refuses %s before any call', async (request, turn, reason) => {
    const before = await Promise.all(['documents', 'tickets', 'policies'].map(callsOf));
    const asked = await ask(request, [turn], { summarize: true });
    expect(asked.verdict).toMatchObject({ decision: 'refused', reason });
    expect(asked.verdict.message).not.toBe('');
    expect(asked.usage).toMatchObject({ calls: 0, questions: 1 });
    expect(await Promise.all(['documents', 'tickets', 'policies'].map(callsOf))).toEqual(before);
  });

  it('[LLM-4] a pattern does not allow tools that change something; an entry that names the tool does', async () => {
    await demo.allow({ server: '*', tool: 'close_*' });
    const close = plan('tickets', 'close_ticket', { number: 'INC-1001' });
    const before = await callsOf('tickets');
    const refused = await ask('close INC-1001', [close]);
    expect(refused.verdict).toMatchObject({
      stage: 'side_effects',
      reason: 'side_effects_not_allowed',
    });
    expect(await callsOf('tickets')).toBe(before);
    await demo.allow({ server: 'tickets', tool: 'close_ticket', side_effects: true });
    const dry = await ask('close INC-1001', [close], { dry_run: true });
    expect(dry).toMatchObject({ verdict: { reason: 'dry_run' }, plan: { tool: 'close_ticket' } });
    expect(await callsOf('tickets')).toBe(before);
    const closed = await ask('close INC-1001', [close]);
    expect(closed.result).toMatchObject({ structuredContent: { state: 'closed' } });
  });

  it('[LLM-4] shows the model only allowed tools', async () => {
    await ask('delete doc-1', [plan('documents', 'delete_document', { id: 'doc-1' })]);
    const prompts = JSON.stringify(await requestsTo(demo.model));
    expect(prompts).toContain('fetch_document');
    expect(prompts).not.toContain('delete_document');
    expect(prompts).not.toContain(demo.gateway.adminToken);
  });

  it('[LLM-4] [LLM-6] records every stage in the trace, with its decision', async () => {
    const asked = await ask('read doc-2', [plan('documents', 'fetch_document', { id: 'doc-2' })]);
    const spans = await spansOf(demo, asked);
    expect(new Map(spans.map(({ name, decision }) => [name, decision]))).toEqual(
      new Map([
        ['ask', 'called'],
        ['ask.input', 'allowed'],
        ['ask.candidates', 'chosen'],
        ['ask.plan', 'planned'],
        ['ask.guard', 'allowed'],
        ['ask.call', 'called'],
        ['ask.typed', 'valid'],
      ]),
    );
  });

  it('[LLM-4] [SEC-6] writes an audit row for a refused plan', async () => {
    await ask('delete doc-1', [plan('documents', 'delete_document', { id: 'doc-1' })]);
    const rows = await until('the row is there', 30_000, async () => {
      const { json } = await demo.gateway.api('GET', '/api/v1/audit?action=ask');
      const events = (json['events'] ?? []) as { subject: string; outcome: string }[];
      return events.some(({ subject }) => subject === 'documents.delete_document')
        ? events
        : undefined;
    });
    expect(rows.every(({ outcome }) => outcome === 'denied')).toBe(true);
  });
});

describe('portico ask', () => {
  it("[CLI-4] [LLM-4] prints the tool's result, with plan and trace beside it", async () => {
    await giveScript(demo.model, { turns: [plan('documents', 'fetch_document', { id: 'doc-3' })] });
    const { code, out, err } = await portico(['ask', 'read', 'doc-3']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ title: 'Onboarding plan' });
    expect(err).toMatch(
      /^plan: documents\.fetch_document \{"id":"doc-3"\}\nfake: \d+ tokens, 1 model request; trace [0-9a-f]{32}\n$/,
    );
  });

  it('[CLI-4] [LLM-4] has its own exit code for a refusal', async () => {
    const turns = [plan('documents', 'delete_document', { id: 'doc-1' })];
    await giveScript(demo.model, { turns });
    const ran = await portico(['ask', 'delete doc-1']);
    expect(ran.code).toBe(5);
    expect(ran.out).toBe('');
    expect(ran.err).toMatch(
      /portico: refused: The tool is not on the allow-list of ask \(not_allowed\)\n$/,
    );
    await giveScript(demo.model, { turns });
    const json = await portico(['ask', 'delete doc-1', '--json']);
    expect([json.code, json.json<Asked>().verdict.reason]).toEqual([5, 'not_allowed']);
  });

  it('[CLI-4] [LLM-4] adds, lists and removes entries of the allow-list', async () => {
    const made = await portico(['ask', 'allow', 'policies', 'old_*', '--group', 'legal', '--json']);
    const { id } = made.json<{ id: string }>();
    expect((await portico(['ask', 'list'])).out).toMatch(
      new RegExp(`policies +old_\\* +no +group legal +${id}`),
    );
    expect((await portico(['ask', 'remove', id])).code).toBe(0);
    expect((await portico(['ask', 'list'])).out).not.toContain(id);
    const wide = await portico(['ask', 'allow', '*', 'x', '--side-effects']);
    expect(wide.code).toBe(2);
    expect(wide.err).toContain('name one server and one tool');
  });
});

it('[LLM-4] is one tool over MCP, whose answer is structured content', async () => {
  await giveScript(demo.model, { turns: [plan('documents', 'fetch_document', { id: 'doc-2' })] });
  const { origin, adminToken } = demo.gateway;
  const target = { url: `${origin}/mcp?tools=ask`, token: adminToken };
  const client = await clients['SDK 2.x pinned to 2026-07-28'](target);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['ask']);
  const result = await client.callTool('ask', { request: 'read doc-2' });
  expect(result['structuredContent']).toMatchObject({
    verdict: { reason: 'called' },
    result: { structuredContent: { id: 'doc-2' } },
  });
  await client.close();
});
