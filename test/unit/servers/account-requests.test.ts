/** Requests to the objects of accounts, for which no caller waits, are kept past the response. */
import { expect, it } from 'vitest';
import { RemoteAccountLists } from '../../../src/servers/accounts/remote-account-lists.ts';
import { RemoteAccountTokens } from '../../../src/servers/accounts/remote-account-tokens.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';

const account = {
  id: 'acc',
  principalId: 'ada',
  serverId: 'srv',
  revision: 1,
  sealed: '',
  serial: 1,
  issuedAt: Date.now() - 900_000,
  expiresAt: Date.now() + 100_000,
  listsOf: null,
  listsAt: null,
};
const record = { id: 'srv', status: 'CONNECTED', catalogHash: 'hash', verdict: {}, account };
const server = record as unknown as Server;

it('[UP-4] [ACC-8] a read of lists and a renewal that nobody waits for outlive the response', async () => {
  const kept: Promise<unknown>[] = [];
  const asked: string[] = [];
  const keep = (work: Promise<unknown>) => void kept.push(work);
  const readOwnLists = async (id: string) => void asked.push(id);
  new RemoteAccountLists(() => ({ readOwnLists }), keep).listed([server]);
  expect(kept).toHaveLength(1);
  const accountToken = async () => {
    asked.push('token');
    return { failure: 'down', code: 'credential_unavailable' } as const;
  };
  const wantScope = () => Promise.resolve();
  const tokens = new RemoteAccountTokens(() => ({ accountToken, wantScope }), keep);
  expect(await tokens.current(server)).toBe(server);
  expect(kept).toHaveLength(2);
  await Promise.all(kept);
  expect(asked).toEqual(['srv', 'token']);
});
