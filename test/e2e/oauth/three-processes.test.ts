/** Three processes of one program share a sign-in and refresh at any time: none is signed out, and there is one chain of tokens. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Person } from '../../fixtures/person.ts';
import { endChild } from '../../fixtures/start-fixture.ts';
import type { Step, Tokens } from '../../fixtures/refreshing-program.ts';
import { createRandom, drawn, SEED } from '../../unit/seeded.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { letInWith } from '../support/let-in.ts';

const PROGRAM = fileURLToPath(new URL('../../fixtures/refreshing-program.ts', import.meta.url));
const ENDED_WITHIN_MS = 1_000;
const STORIES = drawn(150);
let gateway: Gateway;
let folder: string;
let member: string;

beforeAll(async () => {
  [gateway, folder] = await Promise.all([
    startGateway(),
    mkdtemp(join(tmpdir(), 'portico-refreshes-')),
  ]);
  member = (await gateway.createToken({ name: 'Ada' })).token;
});
afterAll(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

const ask = (path: string, fields: Record<string, string>) =>
  fetch(`${gateway.origin}${path}`, { method: 'POST', body: new URLSearchParams(fields) });

it(`[ACC-5] in ${STORIES} stories (seed ${SEED}) of refreshes, uses and revocations`, async () => {
  const random = createRandom();
  const file = join(folder, 'tokens.json');
  const { clientId, again } = await letInWith(gateway.origin, new Person(member));
  const refresh = (token: string) =>
    ask('/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token });
  const use = async ({ access_token: token }: Tokens) =>
    (
      await fetch(`${gateway.origin}/api/v1/tools`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  const children = [1, 2, 3].map(n =>
    fork(PROGRAM, [gateway.origin, clientId, file, String(SEED + n)]),
  );
  await Promise.all(children.map(child => once(child, 'message')));
  const act = async (child: ChildProcess, steps: number) => {
    const told = once(child, 'message');
    child.send({ steps });
    return (await told)[0] as Step[];
  };
  let lastUnaware = 0;
  try {
    for (let story = 0; story < STORIES; story += 1) {
      const first = await again();
      await writeFile(file, JSON.stringify(first));
      const steps = 1 + random.below(4);
      const told = (await Promise.all(children.map(child => act(child, steps)))).flat();
      const refused = told.filter(({ status }) => status !== 200);
      expect([story, refused]).toEqual([story, []]);
      const kept = JSON.parse(await readFile(file, 'utf8')) as Tokens;
      const given = told.flatMap(step => step.given ?? []);
      expect(await use(kept)).toBe(200);
      // Every token given out is used by now, and leads to the live one.
      const known = new Set([first, ...given].map(each => each.refresh_token));
      for (const token of known) expect((await refresh(token)).status).toBe(200);
      const ends = new Set<string>();
      for (const token of known) {
        ends.add(((await (await refresh(token)).json()) as Tokens).refresh_token);
      }
      expect([story, ends.size]).toEqual([story, 1]);
      if (random.chance(0.7)) continue;
      const [end = ''] = ends;
      const [, late] = await Promise.all([
        ask('/revoke', { client_id: clientId, token: end }),
        Promise.all(children.map(child => act(child, steps))),
      ]);
      const endedAt = performance.now();
      expect(late.flat().filter(({ status }) => ![200, 400, 401].includes(status))).toEqual([]);
      const last = late.flat().flatMap(step => step.given ?? []);
      for (const token of [end, ...last.map(each => each.refresh_token)]) {
        expect((await refresh(token)).status).toBe(400);
      }
      while ((await use(kept)) !== 401)
        lastUnaware = Math.max(lastUnaware, performance.now() - endedAt);
    }
  } finally {
    for (const child of children) await endChild(child, 'SIGTERM');
  }
  expect(lastUnaware).toBeLessThan(ENDED_WITHIN_MS);
}, 600_000);
