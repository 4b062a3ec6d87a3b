/** Others' text at a terminal: it controls nothing there, in whichever output it comes; a program gets it as it is. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';
import { resultText, startScripted, type ScriptedUpstream } from '../support/scripted-upstream.ts';
import { startTerminal } from '../support/terminal.ts';

/** Clears the screen of a terminal that knows C1 controls, and turns the direction of what follows. */
const EVIL = '\u009B2J\u202E';
const WAIT_MS = 30_000;
const PROGRESS = { progressToken: 1, progress: EVIL };

let gateway: Gateway;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  const tools = [{ name: 'probe', inputSchema: { type: 'object' } }];
  [gateway, upstream] = await Promise.all([
    startGateway({ env: { PORTICO_AUDIT_CALLS: 'before' } }),
    startScripted('modern', { 'tools/list': { member: 'tools', items: tools } }, ({ id }) => ({
      type: 'text/event-stream',
      body: [
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: PROGRESS }),
        resultText(id, '{"resultType":"complete","content":[{"type":"text","text":"done"}]}'),
      ].map(message => `data: ${message}\n\n`),
    })),
  ]);
  await gateway.register('hostile', upstream.url);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const env = () => ({ PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken });
/** Everything that a command shows at a terminal. */
async function shownBy(...words: string[]): Promise<string> {
  const { code, rest } = await startTerminal(words, env()).end();
  expect([words, code, rest]).toEqual([words, 0, rest]);
  return rest;
}

it('[CLI-4] [SEC-8] progress that is no number', async () => {
  const shown = await shownBy('call', 'hostile.probe');
  expect(shown).toContain('progress ⟨U+009B⟩2J⟨U+202E⟩');
  expect(shown).not.toMatch(/[\u009B\u202E]/);
});

it('[CLI-4] [SEC-8] names in exports', async () => {
  const { token } = await gateway.createToken({ name: `a${EVIL}` });
  const call = { name: `hostile.${EVIL}`, arguments: {} };
  await gateway.api('POST', '/api/v1/tools/call', call, token);
  const usage = ['usage', '--by', 'token', '--csv'];
  const exported = async (words: string[]) => (await runPortico(words, { env: env() })).out;
  await until('the call is counted', WAIT_MS, async () =>
    (await exported(usage)).includes(EVIL) ? true : undefined,
  );
  for (const [words, shownAs] of [
    [['audit', 'export'], String.raw`\u009b2J\u202e`],
    [usage, '⟨U+009B⟩2J⟨U+202E⟩'],
  ] as const) {
    expect(await exported([...words])).toContain(EVIL);
    const shown = await shownBy(...words);
    expect(shown).toContain(shownAs);
    expect(shown).not.toMatch(/[\u009B\u202E]/);
  }
});
