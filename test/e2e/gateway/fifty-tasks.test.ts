/**
 * A scripted host does fifty and then twenty tasks, over the three tools and over the full list, with nineteen real servers and 271 tools:
 * tools are found, described, and called with matching arguments. Prints the calls and tokens that each task takes.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { TASK_SERVERS } from '../../fixtures/task-servers.ts';
import { MORE_TASKS } from '../../fixtures/more-tasks.ts';
import { TASKS } from '../../fixtures/tasks.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { open, type Era } from '../support/raw-client.ts';
import { doBySearch, readFullList, type Done, type Wanted } from '../support/task-host.ts';

const SETS = [
  { count: 50, tasks: TASKS },
  { count: 20, tasks: MORE_TASKS },
] as const;
type Tasks = (typeof SETS)[number]['tasks'];
/** The most calls per task on average, with the three tools. */
const MOST_CALLS = 2.2;
let gateway: Gateway;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-tasks-'));
  gateway = await startGateway();
  await Promise.all(
    [...TASK_SERVERS].map(async ([name, tools]) => {
      const file = join(folder, `${name}.json`);
      await writeFile(file, JSON.stringify(tools));
      const { origin } = await startFixture('listed-tools', { tools: file });
      await gateway.register(name, `${origin}/mcp`);
    }),
  );
});

afterAll(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

const connect = (era: Era, tools: string) =>
  open(era, { url: `${gateway.origin}/mcp?tools=${tools}`, token: gateway.adminToken });

/** Does all tasks, and finds those that failed. */
async function runAll(how: string, tasks: Tasks, work: (task: Wanted) => Promise<Done>) {
  const missed: unknown[] = [];
  const all: Done[] = [];
  for (const { wanted, facts, tool, args } of tasks) {
    const done = await work({ wanted, facts });
    all.push(done);
    const right = { name: tool.split('.')[1], given: args };
    if (!isDeepStrictEqual(done.answer, right)) missed.push([wanted, tool, done.answer]);
  }
  const meanOf = (member: 'calls' | 'tokens') =>
    all.reduce((sum, done) => sum + done[member], 0) / all.length;
  const calls = meanOf('calls');
  const most = Math.max(...all.map(done => done.calls));
  process.stderr.write(
    `${how}: ${tasks.length - missed.length} of ${tasks.length} tasks, ${calls.toFixed(2)} calls per task, ` +
      `${most} at most, ${Math.round(meanOf('tokens'))} tokens per task\n`,
  );
  return { missed, calls, tokens: meanOf('tokens') };
}

it('[FIND-2] are seventy, each for another tool, and none names its tool', () => {
  const all = SETS.flatMap(({ tasks }) => tasks);
  expect(SETS.map(({ tasks }) => tasks.length)).toEqual(SETS.map(({ count }) => count));
  expect(new Set(all.map(({ tool }) => tool)).size).toBe(all.length);
  const telling = all.filter(({ wanted, tool }) => wanted.includes(tool.split('.')[1] ?? ''));
  expect(telling).toEqual([]);
});

describe.each(SETS)('$count tasks', ({ tasks }) => {
  it.each(['legacy', 'modern'] as const)(
    '[FIND-2] [FIND-5] are done over three tools: %s',
    async era => {
      const client = await connect(era, 'search');
      const work = (task: Wanted) => doBySearch(client, task);
      const { missed, calls } = await runAll(`three tools, ${era}`, tasks, work);
      expect(missed).toEqual([]);
      expect(calls).toBeLessThanOrEqual(MOST_CALLS);
    },
  );

  it('[FIND-2] are done over the full list', async () => {
    const work = await readFullList(await connect('modern', 'all'));
    expect((await runAll('full list', tasks, work)).missed).toEqual([]);
  });
});
