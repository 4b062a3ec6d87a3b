/**
 * A user with an account at the suite's server. The user is told to connect it, signs in at the suite's authorization server with a
 * browser, comes back and calls, and signs in again when required, until the call succeeds or the gateway refuses to connect.
 */
import { scheduler } from 'node:timers/promises';
import type { Api, ServerRecord } from '../../local/api.ts';
import { ConnectingPerson, toText } from '../e2e/support/connecting.ts';
import type { User } from './user.ts';

/** More sign-ins than the gateway allows for one account. */
const MAX_SIGN_INS = 5;
/** How long to wait, in milliseconds, for the gateway's discovery with a new account. A user who sees no tools then connects once more. */
const LOOK_TIMEOUT_MS = 4_000;
const POLL_MS = 50;

export interface AccountScene {
  origin: string;
  /** The administrator's API, which shows the server's status. */
  api: Api;
  server: { id: string; name: string };
  /** The user's own token. */
  token: string;
  /** Connects a new client of the user: a modern client caches lists for a while. */
  connect(): Promise<User>;
}

/** @returns why the gateway refused to connect, or to connect again; undefined if the call succeeded */
export async function callWithAccount(scene: AccountScene): Promise<string | undefined> {
  const { origin, api, server, token } = scene;
  const person = new ConnectingPerson(origin, token);
  await person.signIn();
  if ((await useTool(scene)) !== 'told') throw new Error('Nobody is told to connect');
  for (let round = 0; round < MAX_SIGN_INS; round += 1) {
    const before = await api.getServer(server.id);
    const { status, text } = await person.connectAtOnce(server.name);
    if (status !== 200) return /role="alert">([^<]*)/.exec(text)?.[1] ?? toText(text);
    await whenLookedAt(api, before);
    if ((await useTool(scene)) === 'done') return undefined;
  }
  throw new Error(`${MAX_SIGN_INS} sign-ins were not enough`);
}

/** Calls the first listed tool. @returns whether the server answered, the user was told where to connect, or no tool is listed */
async function useTool(scene: AccountScene): Promise<'done' | 'told' | 'none'> {
  const { origin, server, connect } = scene;
  const user = await connect();
  try {
    const [tool] = await user.listTools();
    if (!tool) return 'none';
    const answer = await user.callTool(tool.name, {});
    if (answer.includes('"text":"test"')) return 'done';
    if (answer.includes(`${origin}/connect/${server.name}`)) return 'told';
    throw new Error(`The call failed: ${answer}`);
  } finally {
    await user.close();
  }
}

/** Resolves when the gateway has read the server's lists, or reports another error than before, or after the timeout. */
async function whenLookedAt(api: Api, { id, last_error: before }: ServerRecord): Promise<void> {
  const deadline = Date.now() + LOOK_TIMEOUT_MS;
  for (;;) {
    const { status, last_error: error } = await api.getServer(id);
    if (status === 'CONNECTED' || error !== before || Date.now() > deadline) return;
    await scheduler.wait(POLL_MS);
  }
}
