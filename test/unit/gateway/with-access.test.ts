/** What a token's scopes allow, for every way to a server. */
import type { Naming } from '../../../src/gateway/listing.ts';
import { expect, it } from 'vitest';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { withAccess } from '../../../src/gateway/steps/with-access.ts';
import { createCaller } from '../access/callers.ts';
import { createRecord } from './fakes.ts';

const visible = { servers: [createRecord('alpha'), createRecord('beta')] };
const dot: Naming = { kind: 'qualified', style: 'dot' };
const METHODS = 'visible list find search subscription advertise subscribeTasks request'.split(' ');
const READS = ['list', 'find', 'search', 'subscription', 'subscribeTasks'];

/** Asks all there is; what got through, with the servers it reaches, and what did not. */
async function tryAll(caller: ReturnType<typeof createCaller>) {
  const through: string[] = [];
  const refused: string[] = [];
  const note =
    (method: string) =>
    (_caller: unknown, { servers }: typeof visible) => {
      through.push(`${method} ${servers.map(({ name }) => name).join()}`);
      return Promise.resolve();
    };
  const inner = Object.fromEntries(METHODS.map(method => [method, note(method)]));
  const gateway = withAccess(inner as unknown as Gateway) as unknown as Record<
    string,
    (...given: unknown[]) => Promise<unknown>
  >;
  for (const method of METHODS) {
    await gateway[method]?.(caller, visible, dot, 'x', {}, {}).catch((error: { code: string }) => {
      refused.push(`${method} ${error.code}`);
    });
  }
  return { through, refused };
}

it('[ACC-2] [ACC-9] reading and calling are apart', async () => {
  const servers = ['id-beta'];
  const reader = await tryAll(createCaller({ servers }, ['tools:read']));
  expect(reader.refused).toEqual(['request forbidden']);
  const writer = await tryAll(createCaller({ servers }, ['tools:call']));
  expect(writer.refused).toEqual(READS.map(method => `${method} forbidden`));
  expect(writer.through).toEqual(['visible beta', 'advertise beta', 'request beta']);
  expect(reader.through).toEqual(
    METHODS.filter(method => method !== 'request').map(method => `${method} beta`),
  );
});
