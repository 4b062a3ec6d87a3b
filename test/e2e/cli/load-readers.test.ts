/** `portico connect` with a gateway that reads nothing: the amount buffered for it is limited, and other requests continue. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { WINDOW_BYTES } from '../../../src/upstream/connector/frames.ts';
import { until } from '../../fixtures/start-fixture.ts';
import { callTool, textOf } from '../support/connect-calls.ts';
import { ConnectStand } from '../support/connect-process.ts';
import { ORDINARY_TOKEN, startConnectorGateway } from '../support/connector-gateway.ts';

const WAIT_MS = 60_000;
const BIG_BYTES = 10_000_000;
const MOST_RSS_BYTES = 512 * 1_048_576;

it('[CLI-1] [SEC-4] sends at most a window of each response unasked, and holds eight of 10 MB in little memory', async () => {
  const gateway = await startConnectorGateway();
  const stand = await ConnectStand.create();
  stand.write('mcp.json', {
    mcpServers: { one: stand.tools('one'), two: stand.tools('two'), calm: stand.tools('calm') },
  });
  const opened = gateway.nextLink();
  const connecting = stand.start(['--url', gateway.origin], {
    PORTICO_CONNECTOR_TOKEN: ORDINARY_TOKEN,
  });
  const link = await opened;
  const big = Array.from({ length: 8 }, (_, index) => {
    const given = { text: String(index), times: BIG_BYTES };
    return callTool(link, index % 2 === 0 ? 'one' : 'two', 'big', given, { isHeld: true });
  });
  const sizes = () => big.map(({ exchange }) => exchange.size);
  await until('all windows are used up', WAIT_MS, async () =>
    sizes().every(size => size === WINDOW_BYTES) ? true : undefined,
  );
  for (let at = 0; at < 100; at++) {
    await expect(textOf(callTool(link, 'calm', 'echo', { text: `${at}` }))).resolves.toBe(`${at}`);
  }
  expect(sizes()).toEqual(big.map(() => WINDOW_BYTES));
  for (const { exchange } of big) exchange.flow();
  const texts = await Promise.all(big.map(textOf));
  expect(texts.map((text, at) => text === String(at).repeat(BIG_BYTES))).toEqual(
    texts.map(() => true),
  );
  const status = await readFile(`/proc/${connecting.child.pid}/status`, 'utf8');
  const peakBytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
  expect(peakBytes).toBeLessThan(MOST_RSS_BYTES);
  await stand.remove();
  await gateway.close();
});
