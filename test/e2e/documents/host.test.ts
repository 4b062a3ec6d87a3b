/** The guarded host, line by line (`test/source-documents/host.ts`), with its three servers as it describes them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { giveScript, requestsTo } from '../../fixtures/model-control.ts';
import { HOST, type HostLine } from '../../source-documents/host.ts';
import { ask, DEMO, plan, spansOf, startAskDemo, type AskDemo } from '../support/ask-demo.ts';
import { runPortico } from '../support/portico-command.ts';

const BLOCKED = 'drop all tables';
const fetchTwo = plan('documents', 'fetch_document', { id: 'doc-2' });

let demo: AskDemo;

beforeAll(async () => {
  demo = await startAskDemo([], { PORTICO_ASK_BLOCKED: BLOCKED });
  for (const tool of ['search_*', 'fetch_*', 'get_ticket']) await demo.allow({ server: '*', tool });
}, 120_000);
afterAll(() => demo?.stop());

const callsOfAll = () =>
  Promise.all(DEMO.map(async name => (await demo.servers[name]?.counters())?.['calls'] ?? 0));

/** Checks that a plan is refused for this reason, without a call. */
async function refuses(request: string, turn: { text: string }, reason: string): Promise<void> {
  const before = await callsOfAll();
  const { verdict, usage } = await ask(demo, request, [turn]);
  expect(verdict).toMatchObject({ decision: 'refused', reason });
  expect(usage.calls).toBe(0);
  expect(await callsOfAll()).toEqual(before);
}

const shows: Record<HostLine, () => void | Promise<void>> = {
  async H1() {
    const { json } = await demo.gateway.api('GET', '/api/v1/tools');
    const servers = json['servers'] as { name: string; tools: unknown[] }[];
    expect(servers.map(({ name }) => name).toSorted()).toEqual([...DEMO].toSorted());
    expect(servers.every(({ tools }) => tools.length > 0)).toBe(true);
    for (const [name, given, content] of [
      ['tickets.get_ticket', { number: 'INC-1002' }, 'VPN drops every hour'],
      ['documents.fetch_document', { id: 'doc-2' }, 'Incident handbook'],
      ['policies.fetch_policy', { key: 'remote-work' }, 'remote-work'],
    ] as const) {
      const call = { name, arguments: given };
      const answer = await demo.gateway.api('POST', '/api/v1/tools/call', call);
      const text = expect.stringContaining(content) as string;
      expect(answer.json).toMatchObject({ content: [{ type: 'text', text }], isError: false });
    }
  },
  async H2() {
    const counts = await Promise.all(DEMO.map(name => demo.servers[name]?.counters()));
    for (const each of counts) expect(each?.['sessions']).toBeGreaterThan(0);
  },
  async H3() {
    const sessions = async () => (await demo.servers['documents']?.counters())?.['sessions'] ?? 0;
    const body = { name: 'documents.fetch_document', arguments: { id: 'doc-2' } };
    const call = (token?: string) =>
      demo.gateway.api('POST', '/api/v1/tools/call', body, token).then(({ status }) => status);
    expect(await call()).toBe(200);
    const before = await sessions();
    expect([await call(), await sessions()]).toEqual([200, before]);
    const { json } = await demo.gateway.api('POST', '/api/v1/principals', { name: 'another' });
    const { token } = await demo.gateway.createToken({ name: 'own', principal: json['id'] });
    expect([await call(token), await sessions()]).toEqual([200, before + 1]);
  },
  async H4() {
    await ask(demo, 'read doc-2', [fetchTwo]);
    // The fake accepts only what the API accepts at that path.
    expect(await requestsTo(demo.model)).toMatchObject([{ messages: expect.any(Array) }]);
  },
  async H5() {
    await ask(demo, 'read doc-2', [fetchTwo]);
    expect(await requestsTo(demo.model)).toMatchObject([{ model: 'fake' }]);
  },
  async H6() {
    const asked = await ask(demo, 'read doc-2', [fetchTwo], { dry_run: true });
    expect(asked.plan).toEqual({
      server: 'documents',
      tool: 'fetch_document',
      args: { id: 'doc-2' },
    });
    expect(asked.usage.calls).toBe(0);
  },
  async H7() {
    await giveScript(demo.model, { turns: [fetchTwo] });
    const { code, out } = await runPortico(['ask', 'read doc-2'], {
      env: { PORTICO_URL: demo.gateway.origin, PORTICO_TOKEN: demo.gateway.adminToken },
    });
    expect([code, JSON.parse(out)]).toMatchObject([0, { title: 'Incident handbook' }]);
  },
  async H8() {
    const { verdict, usage } = await ask(demo, `please DROP  all tables`, [fetchTwo]);
    expect(verdict).toMatchObject({ stage: 'input', reason: 'request_blocked' });
    expect([usage.questions, await requestsTo(demo.model)]).toEqual([0, []]);
  },
  async H9() {
    await ask(demo, 'delete doc-1', [fetchTwo]);
    const prompts = JSON.stringify(await requestsTo(demo.model));
    expect(prompts).toContain('fetch_document');
    expect(prompts).not.toContain('delete_document');
  },
  async H10() {
    const { json } = await demo.gateway.api('GET', '/api/v1/ask/allowlist');
    expect(JSON.stringify(json)).toContain('get_ticket');
    const { text } = await demo.gateway.api('GET', '/api/v1/audit?limit=100');
    expect(text).toContain('ask_allowlist');
  },
  H11: () => refuses('read doc-2', { text: 'I would rather read it to you.' }, 'plan_not_json'),
  H12: () =>
    refuses('read it', plan('documents', 'fetch_document', { id: 2 }), 'arguments_do_not_fit'),
  H13: () => refuses('burn it', plan('documents', 'burn_document', {}), 'unknown_tool'),
  H14: () =>
    refuses('delete', plan('documents', 'delete_document', { id: 'doc-1' }), 'not_allowed'),
  async H15() {
    const close = plan('tickets', 'close_ticket', { number: 'INC-1001' });
    await demo.allow({ server: '*', tool: 'close_*' });
    await refuses('close INC-1001', close, 'side_effects_not_allowed');
    await demo.allow({ server: 'tickets', tool: 'close_ticket', side_effects: true });
    const { result } = await ask(demo, 'close INC-1001', [close]);
    expect(result).toMatchObject({ structuredContent: { state: 'closed' } });
  },
  async H16() {
    const before = await callsOfAll();
    const { usage } = await ask(demo, 'read doc-2', [fetchTwo, fetchTwo]);
    expect(usage.calls).toBe(1);
    const after = await callsOfAll();
    expect(after.reduce((a, b) => a + b, 0)).toBe(before.reduce((a, b) => a + b, 0) + 1);
  },
  async H17() {
    const right = await ask(demo, 'read', [
      plan('policies', 'fetch_policy', { key: 'remote-work' }),
    ]);
    expect(right.typed).toMatchObject({ status: 'valid' });
    const wrong = await ask(demo, 'read', [plan('policies', 'fetch_policy', { key: 'withdrawn' })]);
    expect(wrong.typed).toMatchObject({ status: 'mismatch' });
  },
  async H18() {
    const claims = [
      { text: 'It is the handbook.', evidence: 'Incident handbook' },
      { text: 'It is long.', evidence: 'hundreds of pages' },
    ];
    const turns = [fetchTwo, { text: JSON.stringify({ claims }) }];
    const { summary } = await ask(demo, 'read doc-2', turns, { summarize: true });
    expect(summary).toMatchObject({ claims: [{ evidence: 'Incident handbook' }], dropped: 1 });
  },
  async H19() {
    const spans = await spansOf(demo, await ask(demo, 'read doc-2', [fetchTwo]));
    expect(spans.map(({ name }) => name)).toEqual([
      'ask',
      'ask.input',
      'ask.candidates',
      'ask.plan',
      'ask.guard',
      'ask.call',
      'ask.typed',
    ]);
  },
  async H20() {
    for (const name of DEMO) {
      const { sessions, initialized } = (await demo.servers[name]?.counters()) ?? {};
      expect(sessions).toBeGreaterThan(0);
      expect(initialized).toBe(sessions);
    }
  },
  async H21() {
    const { json } = await demo.gateway.api('GET', '/api/v1/tools');
    const servers = json['servers'] as { tools: { name: string }[] }[];
    const names = servers.flatMap(({ tools }) => tools.map(({ name }) => name));
    for (const [name, given, content] of [
      ['documents.search_documents', { query: 'handbook' }, 'doc-2'],
      ['tickets.search_tickets', { query: 'VPN' }, 'INC-1002'],
      ['policies.search_policies', { query: 'remote' }, 'remote-work'],
    ] as const) {
      const call = { name, arguments: given };
      const { text } = await demo.gateway.api('POST', '/api/v1/tools/call', call);
      expect([name, text]).toEqual([name, expect.stringContaining(content)]);
    }
    for (const name of ['documents.fetch_document', 'tickets.get_ticket', 'policies.fetch_policy'])
      expect(names).toContain(name);
  },
  async H22() {
    const call = { server: 'documents', tool: 'fetch_document', args: { id: 'doc-2' } };
    for (const said of [{ ...call, type: 'run' }, call, { ...call, type: 'call_tool', next: [] }]) {
      await refuses('read doc-2', { text: JSON.stringify(said) }, 'plan_not_strict');
    }
  },
  async H23() {
    await demo.allow({ server: 'documents', tool: 'ghost_document' });
    await ask(demo, 'read doc-2', [fetchTwo]);
    const prompts = JSON.stringify(await requestsTo(demo.model));
    expect(prompts).toContain('fetch_document');
    expect(prompts).not.toContain('ghost_document');
    await refuses('haunt', plan('documents', 'ghost_document', {}), 'unknown_tool');
  },
};

it.each(HOST.lines.map(({ id, says }) => [id as HostLine, says] as const))(
  '[LLM-4] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
