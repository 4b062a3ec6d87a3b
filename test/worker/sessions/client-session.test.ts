/** ClientSession: what a client's object keeps across an eviction. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';

const session = { sessionId: 'upstream-1', protocolVersion: '2025-11-25', credentialKey: 'key-1' };

/** A ClientSession with one session at the server `server-1`. */
async function createHolder(name: string) {
  const holder = env.CLIENT_SESSION.getByName(name);
  const acquired = await holder.acquire('server-1', session.credentialKey);
  if (!('claim' in acquired)) throw new Error('a new object has no session');
  await holder.settle('server-1', acquired.claim, session);
  return holder;
}

it('[MCP-10] [UP-2] keeps the session of an upstream across an eviction', async () => {
  const holder = await createHolder('session:evicted');
  await evictDurableObject(holder);
  expect(await holder.acquire('server-1', session.credentialKey)).toEqual({ session });
});

it('[UP-2] opens another session for another credential', async () => {
  const holder = await createHolder('session:credential');
  expect(await holder.acquire('server-1', 'key-2')).toHaveProperty('claim');
});

it('[UP-2] drops the session that the upstream forgot, and only that one', async () => {
  const holder = await createHolder('session:forgotten');
  await holder.forget('server-1', 'another');
  expect(await holder.acquire('server-1', session.credentialKey)).toEqual({ session });
  await holder.forget('server-1', session.sessionId);
  expect(await holder.acquire('server-1', session.credentialKey)).toHaveProperty('claim');
});

it('[MCP-10] keeps recently used sessions when its alarm fires', async () => {
  const holder = await createHolder('session:alarm');
  expect(await runDurableObjectAlarm(holder)).toBe(true);
  expect(await holder.acquire('server-1', session.credentialKey)).toEqual({ session });
});

it('[MCP-10] deletes itself again if it is used after its end', async () => {
  const holder = await createHolder('session:ended');
  await holder.end();
  const alarm = () => runInDurableObject(holder, (_, { storage }) => storage.getAlarm());
  expect(await alarm()).toBeNull();
  await createHolder('session:ended');
  expect(await alarm()).not.toBeNull();
});

it('[MCP-10] deletes itself again if a session that was being opened comes after its end', async () => {
  const holder = env.CLIENT_SESSION.getByName('session:ended-early');
  const acquired = await holder.acquire('server-1', session.credentialKey);
  await holder.end();
  await holder.settle('server-1', 'claim' in acquired ? acquired.claim : '', session);
  const alarm = await runInDurableObject(holder, (_, { storage }) => storage.getAlarm());
  expect(alarm).not.toBeNull();
});
