/** A request to the deployment's model counts like a call: a principal without calls left sends none to the model. */
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openAiApi } from '../../fixtures/model-openai-api.ts';
import { createWireModel, MODEL_KEY } from '../../fixtures/model-wires.ts';
import { createPerson } from '../support/call-rows.ts';
import { FakeServer, toolOf } from '../support/fake-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { createPortico, registerConnected } from '../support/portico.ts';

const ORIGIN = 'https://model.example.com';
const notes = new FakeServer({ tools: [toolOf('read_note')] });
const portico = createPortico({
  PORTICO_MODEL_URL: `${ORIGIN}/v1`,
  PORTICO_MODEL: 'm',
  PORTICO_MODEL_KEY: MODEL_KEY,
  PORTICO_RATE_LIMIT: '2',
});
let model: ReturnType<typeof createWireModel>;

beforeEach(async () => {
  model = createWireModel(openAiApi);
  fakeUpstreams({
    'https://notes.example.com': notes.handle,
    [ORIGIN]: request => model.fetch(request),
  });
  const said = { text: JSON.stringify({ type: 'none', reason: 'no tool fits' }) };
  await model.give({ turns: [said], repeat: 'last' });
});
beforeAll(async () => {
  fakeUpstreams({ 'https://notes.example.com': notes.handle });
  await registerConnected(portico, 'notes');
  const entry = { server: 'notes', tool: 'read_note', side_effects: true };
  await portico.api('POST', '/api/v1/ask/allowlist', entry);
});
const asked = async () => (await model.requests()).length;

describe('a limit of two calls', () => {
  it.each([
    ['ask', '/api/v1/ask', { request: 'read note 1' }],
    ['chat', '/api/v1/chat', { message: 'read note 1' }],
  ])(
    '[ACC-6] [LLM-3] [LLM-4] applies to two requests to %s, for each principal',
    async (_what, path, body) => {
      // Nothing is refilled meanwhile.
      vi.useFakeTimers({ toFake: ['Date'] });
      const person = await createPerson(portico);
      const send = (token: string) => portico.api('POST', path, body, { token });
      const statuses = [await send(person.token), await send(person.token)].map(
        ({ status }) => status,
      );
      expect(statuses).toEqual([200, 200]);
      const before = await asked();
      expect(before).toBeGreaterThanOrEqual(2);
      const refused = await send(person.token);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
      expect(await asked()).toBe(before);
      expect((await send((await createPerson(portico)).token)).status).toBe(200);
      vi.useRealTimers();
    },
  );
});
