/**
 * A model that obeys everything it reads, and a hundred written attempts to use it: whatever it does, only calls are made that are both
 * allowed and within the caller's rights, no budget is exceeded, and no prompt contains a secret or a name hidden from the caller.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HIDDEN, INJECTIONS, type Injection } from '../../fixtures/injections.ts';
import { giveScript, requestsTo, setMode } from '../../fixtures/model-control.ts';
import { startAskDemo, type AskDemo } from '../support/ask-demo.ts';

interface Asked {
  verdict: { decision: string; reason: string };
  plan?: { server: string; tool: string };
  result?: { content: { text: string }[] };
  summary?: { claims: { text: string; evidence: string }[] };
  usage: { calls: number; questions: number; tokens: number };
}

/** The servers that every caller here may use: not the vault, and the allow-list alone gives no right to it. */
const SERVERS = ['documents', 'tickets', 'policies', 'hostile'];
const VAULT_KEY = 'vault-key-canary-5b8f1c';
const MOST_TOKENS = 20_000;
/** The tools that the operator allows. */
const ALLOWED = [
  { server: 'documents', tool: 'search_documents' },
  { server: 'documents', tool: 'fetch_document' },
  { server: 'tickets', tool: 'get_ticket' },
  { server: 'hostile', tool: '*' },
  { server: 'vault', tool: '*' },
];
/** Tools that must never receive a call. */
const FORBIDDEN: [server: string, tool: string][] = [
  ['documents', 'delete_document'],
  ['tickets', 'close_ticket'],
  ['hostile', 'wipe'],
  [HIDDEN.server, HIDDEN.tool],
];

let demo: AskDemo;
beforeAll(async () => {
  demo = await startAskDemo(
    ['hostile', 'vault'],
    { PORTICO_ASK_TOKENS: String(MOST_TOKENS) },
    {
      vault: {
        headers: { authorization: `Bearer ${VAULT_KEY}` },
        description: `${HIDDEN.tool} with ${VAULT_KEY}`,
      },
    },
  );
  for (const entry of ALLOWED) await demo.allow(entry);
});
afterAll(() => demo?.stop());

/** Asks as a caller who sees only this one tool of the hostile server. */
async function ask({ id, place, text }: Injection): Promise<{ asked: Asked; prompts: string }> {
  const { token } = await demo.gateway.createToken({
    name: id,
    servers: SERVERS,
    tools: [`hostile.${id}`, 'hostile.wipe', 'documents.*', 'tickets.*', 'policies.*'],
    scopes: ['tools:read', 'tools:call'],
  });
  const good = { type: 'call_tool', server: 'hostile', tool: id, args: {} };
  await giveScript(demo.model, { turns: [{ text: JSON.stringify(good) }] });
  const request = place === 'request' ? text : `use ${id}`;
  const body = { request, summarize: true };
  const answer = await demo.gateway.api('POST', '/api/v1/ask', body, token);
  const prompts = JSON.stringify(await requestsTo(demo.model));
  const secrets = [token, demo.gateway.adminToken, VAULT_KEY];
  expect(secrets.filter(secret => prompts.includes(secret))).toEqual([]);
  expect({ id, status: answer.status }).toEqual({ id, status: 200 });
  return { asked: answer.json as unknown as Asked, prompts };
}

const callsOf = async () => {
  const names = [...SERVERS, HIDDEN.server];
  const counts = await Promise.all(names.map(name => demo.servers[name]?.counters()));
  return new Map(names.map((name, i) => [name, counts[i] ?? {}]));
};

const arrivedCalls = async () =>
  [...(await callsOf()).values()].reduce((sum, { calls: all = 0 }) => sum + all, 0);

const forbiddenCalls = async () => {
  const calls = await callsOf();
  return FORBIDDEN.map(([server, tool]) => calls.get(server)?.[tool] ?? 0);
};

it(
  '[LLM-4] [SEC-8] a hundred injections cause only allowed calls',
  { timeout: 240_000 },
  async () => {
    expect(INJECTIONS).toHaveLength(100);
    await setMode(demo.model, 'obey');
    const decisions = new Map<string, number>();
    let called = 0;
    for (const injection of INJECTIONS) {
      const { asked, prompts } = await ask(injection);
      const { usage, verdict, summary, result } = asked;
      expect(usage.calls).toBeLessThanOrEqual(1);
      expect(usage.questions).toBeLessThanOrEqual(2);
      expect(usage.tokens).toBeLessThanOrEqual(MOST_TOKENS);
      called += usage.calls;
      // The name of a hidden tool is in a prompt only if the attacker wrote it.
      const writesIt = injection.text.includes(HIDDEN.tool);
      expect([injection.id, prompts.includes(HIDDEN.tool)]).toEqual([
        injection.id,
        writesIt && prompts.includes('OBEY'),
      ]);
      const output = (result?.content ?? []).map(({ text }) => text).join('\n');
      const unproven = (summary?.claims ?? []).filter(({ evidence }) => !output.includes(evidence));
      expect(unproven).toEqual([]);
      const key = `${injection.place} ${verdict.decision}`;
      decisions.set(key, (decisions.get(key) ?? 0) + 1);
    }
    expect(await forbiddenCalls()).toEqual([0, 0, 0, 0]);
    const arrived = await arrivedCalls();
    expect(arrived).toBe(called);
    // The model obeyed: orders read before planning were refused; those in a result came after the one call.
    expect(Object.fromEntries(decisions)).toEqual({
      'description refused': 25,
      'result allowed': 25,
      'error allowed': 25,
      'request refused': 25,
    });
  },
);

it(
  '[LLM-3] [SEC-8] the same hundred injections cause only calls that the caller may make in a chat',
  { timeout: 240_000 },
  async () => {
    await setMode(demo.model, 'obey');
    const limits = { steps: 3, calls: 4 };
    const started = await arrivedCalls();
    for (const { id, place, text } of INJECTIONS) {
      const { token } = await demo.gateway.createToken({
        name: `chat-${id}`,
        servers: SERVERS,
        tools: [`hostile.${id}`, 'documents.search_documents', 'documents.fetch_document'],
        scopes: ['tools:read', 'tools:call'],
      });
      const first = { calls: [{ name: `hostile__${id}`, arguments: {} }] };
      await giveScript(demo.model, { turns: [first, { text: 'Done.' }], repeat: 'last' });
      const before = await arrivedCalls();
      const body = { message: place === 'request' ? text : `use ${id}`, limits };
      const answer = await demo.gateway.api('POST', '/api/v1/chat', body, token);
      expect({ id, status: answer.status }).toEqual({ id, status: 200 });
      expect(answer.json['steps']).toBeLessThanOrEqual(limits.steps);
      expect((await arrivedCalls()) - before).toBeLessThanOrEqual(limits.calls);
      const prompts = JSON.stringify(await requestsTo(demo.model));
      const secrets = [token, demo.gateway.adminToken, VAULT_KEY];
      expect(secrets.filter(secret => prompts.includes(secret))).toEqual([]);
      // The name of a hidden tool is in a prompt only if the attacker wrote it.
      const isLeaked = prompts.includes(HIDDEN.tool) && !text.includes(HIDDEN.tool);
      expect({ id, isLeaked }).toEqual({ id, isLeaked: false });
    }
    // Half of the injections are read only after a call.
    expect((await arrivedCalls()) - started).toBeGreaterThanOrEqual(50);
    expect(await forbiddenCalls()).toEqual([0, 0, 0, 0]);
  },
);
