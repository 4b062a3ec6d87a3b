/** `portico stdio` when one side is slower than the other: the amount buffered is limited, and nothing is lost. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { endChild, until } from '../../fixtures/start-fixture.ts';
import { MAIN } from '../support/portico-command.ts';
import {
  resultText,
  sendText,
  startScripted,
  type ScriptedGateway,
} from '../support/scripted-gateway.ts';
import { modern, SOON_MS, start, TOKEN } from '../support/scripted-stdio.ts';

const EVENTS = 800;
const EVENT_CHARS = 131_072;

interface Stuck {
  child: ChildProcess;
  gateway: ScriptedGateway;
}

/** Starts a host that does not read, and a gateway that is therefore blocked in the middle of its response. */
async function getStuck(): Promise<Stuck> {
  let written = 0;
  const event = `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"a":"${'x'.repeat(EVENT_CHARS)}"}}\n\n`;
  async function stream(response: ServerResponse, last: string): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (written = 0; written < EVENTS; written += 1) {
      if (!response.write(event)) await once(response, 'drain');
    }
    response.end(`data: ${last}\n\n`);
  }
  const gateway = await startScripted((came, response) => void stream(response, resultText(came)));
  const child = spawn(process.execPath, [MAIN, 'stdio'], {
    env: { PATH: process.env['PATH'], PORTICO_URL: gateway.origin, PORTICO_TOKEN: TOKEN },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // The output arrives in the pieces that the test reads.
  child.stdout.pause();
  child.stdin.write(`${JSON.stringify(modern(1, 'tools/call'))}\n`);
  // Nobody reads, so the gateway blocks before it has written everything.
  let before = -1;
  let since = Date.now();
  await until('the gateway is stuck', SOON_MS, async () => {
    if (written !== before) since = Date.now();
    before = written;
    return written > 0 && Date.now() - since > 1_000 ? true : undefined;
  });
  if (written > EVENTS / 2) throw new Error(`${written} of ${EVENTS} events were read`);
  return { child, gateway };
}

it('[CLI-2] reads from the gateway no faster than the host reads', async () => {
  const { child, gateway } = await getStuck();
  let count = 0;
  if (!child.stdout) throw new Error('there is no output');
  for await (const line of createInterface(child.stdout)) {
    count += 1;
    if (line.includes('"id":1')) break;
  }
  expect(count).toBe(EVENTS + 1);
  await endChild(child, 'SIGTERM');
  await gateway.close();
});

it('[CLI-2] ends on a signal while the host does not read', async () => {
  const { child, gateway } = await getStuck();
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  await gateway.close();
});

it('[CLI-2] reads from the host no faster than the gateway accepts', async () => {
  const COUNT = 600;
  const held: (() => void)[] = [];
  let most = 0;
  let isHolding = true;
  const { host } = await start((came, response) => {
    const answer = () => sendText(response, resultText(came));
    if (!isHolding) return answer();
    most = Math.max(most, held.push(answer));
  });
  host.send(...Array.from({ length: COUNT }, (_, id) => modern(id, 'tools/call')));
  await until('as many wait as may', SOON_MS, async () => (held.length === 256 ? true : undefined));
  isHolding = false;
  for (const answer of held) answer();
  await until('all are answered', SOON_MS, async () =>
    host.lines.length === COUNT ? true : undefined,
  );
  expect(most).toBe(256);
  expect(new Set(host.lines).size).toBe(COUNT);
});

it('[CLI-2] ends on a signal while the gateway accepts nothing', async () => {
  let count = 0;
  const { host } = await start(() => void (count += 1));
  host.send(...Array.from({ length: 300 }, (_, id) => modern(id, 'tools/call')));
  await until('as many wait as may', SOON_MS, async () => (count === 256 ? true : undefined));
  const exit = once(host.child, 'close');
  host.child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  expect(host.lines).toEqual([]);
});
