/** Runs the stdio adapter: passes messages from standard input to a gateway, and from the gateway to standard output. */
import type { TokenSource } from '../login/token-source.ts';
import { note, watchOutput, writeOut } from '../terminal.ts';
import { GatewayEndpoint } from './source.ts';
import { readLines } from './lines.ts';
import { Relay } from './relay.ts';

/** Longest message of the host, in bytes. */
const MAX_LINE_BYTES = 16_777_216;
/** How long responses are awaited after the host has closed its output, in milliseconds. */
const GRACE_MS = 5_000;

/**
 * Serves the host of this process until its input ends, it is gone, or a signal arrives.
 * @param url endpoint of the gateway
 * @param who prefix of the lines for people
 */
export async function serveStdio(
  url: URL,
  token: string | TokenSource,
  who: string,
): Promise<void> {
  const say = (text: string) => note(`${who}: ${text}`);
  const relay = new Relay({
    gatewayEndpoint: new GatewayEndpoint(url, token),
    write: writeOut,
    note: say,
  });
  const hurry = new AbortController();
  const { promise: leaving, resolve: leave } = Promise.withResolvers<void>();
  watchOutput(leave);
  process.once('SIGTERM', leave).once('SIGINT', leave);
  void leaving.then(() => hurry.abort());
  await Promise.race([relayAll(relay, say), leaving]);
  await relay.end(AbortSignal.any([hurry.signal, AbortSignal.timeout(GRACE_MS)]));
}

/** Handles the host's lines until its input ends. */
async function relayAll(relay: Relay, say: (text: string) => void): Promise<void> {
  try {
    for await (const line of readLines(process.stdin, MAX_LINE_BYTES)) await relay.accept(line);
  } catch (error) {
    say(`reading from the host failed: ${String(error)}`);
  }
}
