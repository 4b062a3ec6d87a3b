/** A server whose catalog is read with a person's account is not down if that account fails: the next account reads it. */
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createPerson, type Person } from '../support/call-rows.ts';
import { FakeServer, toolOf } from '../support/fake-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { createPortico, monitorOf, PATIENT, register, whenServer } from '../support/portico.ts';

const portico = createPortico();
const server = new FakeServer({ era: 'modern', tools: [toolOf('first')] });
const refused = new Set<string>();
let refusals = 0;
let ada: Person;
let bob: Person;
let id = '';

function serveGuarded(): void {
  fakeUpstreams({
    'https://notes.example.com': request => {
      const token = request.headers.get('authorization') ?? '';
      if (refused.has(token)) refusals += 1;
      if (token === '' || refused.has(token)) return new Response('no', { status: 401 });
      return server.handle(request);
    },
  });
}
const connect = ({ token }: Person, own: string) =>
  portico.api('POST', '/api/v1/accounts', { server: 'notes', token: own }, { token });
/** Waits until a check cycle has found this many tools; wakes the monitor meanwhile. */
async function whenRead(tools: number): Promise<void> {
  await vi.waitFor(async () => {
    await monitorOf(id).wake();
    const view = await whenServer(portico, id, () => true);
    expect(view).toMatchObject({ status: 'CONNECTED', tool_count: tools, last_error: null });
  }, PATIENT);
}

beforeAll(async () => {
  serveGuarded();
  ada = await createPerson(portico, { name: 'Ada' });
  bob = await createPerson(portico, { name: 'Bob' });
  ({ id } = await register(portico, 'notes', {
    accounts: 'per_principal',
    tool_approval: 'trust',
  }));
  await connect(ada, 'of-ada');
  await connect(bob, 'of-bob');
  await whenRead(1);
});
beforeEach(() => {
  serveGuarded();
});

it('[UP-4] [ACC-8] if the server refuses the first account', async () => {
  refused.add('Bearer of-ada');
  server.tools = [toolOf('first'), toolOf('second')];
  // The failing status may pass before the test sees it.
  await whenRead(2);
  expect(refusals).toBeGreaterThan(0);
});

it('[UP-4] [ACC-8] if all were refused, and one works again', async () => {
  refused.add('Bearer of-bob');
  await monitorOf(id).wake();
  await whenServer(portico, id, ({ last_error: why }) => why?.includes('upstream_auth') === true);
  refused.delete('Bearer of-ada');
  server.tools = [toolOf('first')];
  await whenRead(1);
  expect(refusals).toBeGreaterThan(1);
});
