/**
 * Connector: one object per enrolled connector. It forwards frames between the machine's socket and the sockets of calls, without reading
 * their content. Its whole state is attached to the sockets, so it can hibernate between two frames, even during a call.
 *
 * Invariants: only the newest machine is connected; a call is one socket and one channel, which end together; a frame sent to a machine
 * that is gone is never sent to the next one.
 */
import { DurableObject } from 'cloudflare:workers';
import { findRecord } from '../records/record-store.ts';
import { Coalescing } from '../shared/util/coalescing.ts';
import {
  FRAMES_VERSION,
  onChannel,
  parseFrame,
  parsePayload,
  PING,
  PONG,
  SUBPROTOCOL,
  toJsonFrame,
  type Frame,
  type Payload,
} from '../upstream/connector/frames.ts';
import {
  CONNECTORS,
  listConnectorServers,
  notePresence,
} from '../servers/connectors/connector-store.ts';

/** Identifies a connector. */
export interface ConnectorName {
  id: string;
  name: string;
  /** When the device token that the machine connected with was rotated. */
  rotatedAt: number;
}

/** The header in which the Worker passes the connector's identity. */
export const CONNECTOR_HEADER = 'portico-connector';

interface Machine extends ConnectorName {
  kind: 'machine';
  isGreeted: boolean;
}

/** `ended`: the object ended the call, but frames of it may still come when the next machine is connected. */
type Attachment = Machine | { kind: 'call'; channel: number } | { kind: 'ended' };

/** The object checks for an announced revocation after this time, in milliseconds. */
const EXPECT_MS = 3_000;
/** A failed check is repeated after this time, in milliseconds: the platform repeats a failed alarm only a few times. */
const FAILED_MS = 30_000;
/** A note that fails is tried this often, after one, two, … times this time, in milliseconds. */
const NOTE = { tries: 6, pauseMs: 2_000 };
/** Maximum number of concurrent calls per connector. */
const MAX_CALLS = 5_000;
/** Shortest time between two looks at what the machine announces, in milliseconds; and most that it may announce meanwhile. */
const ANNOUNCED_PAUSE_MS = 1_000;
const MAX_ANNOUNCED = { servers: 1_000, chars: 1_048_576 };
const MACHINE = 'machine';
const CALL = 'call';
const ABNORMAL = 1006;
const CLOSED = {
  done: 1000,
  protocol: 1002,
  version: 1002,
  revoked: 4401,
  replaced: 4409,
} as const;

const tagOf = (channel: number) => `channel-${channel}`;
const isOpen = ({ readyState }: WebSocket) => readyState === WebSocket.OPEN;

/** A server that a machine announces, with the id of its connector. */
interface Announced {
  id: string;
  server: string;
}

export class Connector extends DurableObject<Env> {
  /** A machine may announce a server over and over; each announcement costs a read of the database and a discovery. */
  readonly #announced = new Coalescing<Announced, void>({
    work: servers => this.#follow(servers).catch(() => {}),
    pauseMs: ANNOUNCED_PAUSE_MS,
    most: MAX_ANNOUNCED.servers,
    mostWeight: MAX_ANNOUNCED.chars,
    weightOf: ({ server }) => server.length,
    wait: ms => scheduler.wait(ms),
  });

  #noting: Promise<unknown> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
  }

  /**
   * Accepts the machine's socket at `/machine` and a call's socket at `/call`. Only the Worker can reach this, after it checked the token.
   */
  override fetch(request: Request): Response {
    const { 0: theirs, 1: own } = new WebSocketPair();
    if (new URL(request.url).pathname === '/call') this.#acceptCall(own);
    else
      this.#acceptMachine(
        own,
        JSON.parse(request.headers.get(CONNECTOR_HEADER) ?? '') as ConnectorName,
      );
    const headers = { 'sec-websocket-protocol': SUBPROTOCOL };
    return new Response(null, { status: 101, webSocket: theirs, headers });
  }

  #acceptCall(own: WebSocket): void {
    const channel = this.#freeChannel();
    const calls = this.ctx.getWebSockets(CALL).length;
    this.ctx.acceptWebSocket(own, [CALL, tagOf(channel)]);
    own.serializeAttachment({ kind: 'call', channel } satisfies Attachment);
    if (!this.#machine()) endCall(own, 'offline', 'Its connector is not connected');
    else if (calls >= MAX_CALLS) endCall(own, 'failed', 'Its connector has too many running calls');
  }

  /** Accepts a machine's socket and disconnects the previous machine. */
  #acceptMachine(own: WebSocket, connector: ConnectorName): void {
    this.#dismiss('replaced');
    this.ctx.acceptWebSocket(own, [MACHINE]);
    own.serializeAttachment({
      kind: 'machine',
      isGreeted: false,
      ...connector,
    } satisfies Attachment);
  }

  /** The connector or its token is about to be revoked: sets an alarm to check it, in case the revocation is never reported. */
  async expectRevocation(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + EXPECT_MS);
  }

  /** The connector, or the token that its machine connected with, was revoked. */
  revoke(): void {
    this.#dismiss('revoked');
  }

  override async alarm(): Promise<void> {
    const [socket] = this.ctx.getWebSockets(MACHINE).filter(isOpen);
    if (!socket) return;
    const { id, rotatedAt } = socket.deserializeAttachment() as Machine;
    try {
      const connector = await findRecord(this.env.DB, CONNECTORS, id);
      // A machine that connected before tokens could be rotated has no such time.
      if (connector?.rotated_at !== (rotatedAt ?? 0)) this.revoke();
    } catch {
      await this.ctx.storage.setAlarm(Date.now() + FAILED_MS);
    }
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const attachment = socket.deserializeAttachment() as Attachment;
    if (attachment.kind === 'ended') return;
    const frame = typeof message === 'string' ? undefined : parseFrame(new Uint8Array(message));
    if (attachment.kind === 'call') {
      if (frame)
        this.#toMachine(onChannel(new Uint8Array(message as ArrayBuffer), attachment.channel));
    } else if (!frame) end(socket, 'protocol');
    else if (frame.channel === 0) await this.#handleOwnFrame(socket, attachment, frame);
    else {
      const [call] = this.ctx.getWebSockets(tagOf(frame.channel)).filter(isOpen);
      call?.send(message);
    }
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    const attachment = socket.deserializeAttachment() as Attachment;
    if (attachment.kind === 'machine') await this.#handleGone(socket, attachment);
    else if (attachment.kind === 'call' && code !== CLOSED.done) {
      const reset = { code: 'cancelled', message: 'The caller is gone' } as const;
      this.#toMachine(toJsonFrame('reset', attachment.channel, reset));
    }
  }

  override webSocketError(socket: WebSocket): Promise<void> {
    return this.webSocketClose(socket, ABNORMAL);
  }

  /** Handles the frames of channel 0, which concern the machine itself. */
  async #handleOwnFrame(
    socket: WebSocket,
    attachment: Machine,
    { type, payload }: Frame,
  ): Promise<void> {
    if (type === 'hello') {
      const { version } = parsePayload('hello', payload) ?? {};
      if (version !== FRAMES_VERSION)
        return end(socket, version === undefined ? 'protocol' : 'version');
      const { id, name, isGreeted } = attachment;
      socket.serializeAttachment({ ...attachment, isGreeted: true } satisfies Attachment);
      socket.send(toJsonFrame('welcome', 0, { version: FRAMES_VERSION, connector: { id, name } }));
      // Once: a machine may say it over and over.
      if (!isGreeted) await this.#wakeMonitors(await this.#noteChange(id));
    } else if (type === 'news') {
      const { server } = parsePayload('news', payload) ?? {};
      if (server !== undefined) void this.#announced.add(server, { id: attachment.id, server });
    } else if (type === 'bye') socket.close(CLOSED.done);
  }

  /**
   * The machine is gone, and with it the calls sent to it. A replaced machine was already handled in `#dismiss`. One that never said hello
   * may have replaced one that had.
   */
  async #handleGone(socket: WebSocket, { id }: Machine): Promise<void> {
    const isReplaced = this.ctx
      .getWebSockets(MACHINE)
      .some(other => other !== socket && isOpen(other));
    if (isReplaced) return;
    socket.serializeAttachment({ kind: 'ended' } satisfies Attachment);
    this.#endCalls('The connection of its connector broke');
    const monitors = this.env.SERVER_MONITOR;
    const servers = await this.#noteChange(id);
    await Promise.allSettled(servers.map(server => monitors.getByName(server.id).wake()));
  }

  /**
   * Notes whether a machine is connected: one note after the other, each of what is true at its turn, so that the last one is right. A note
   * that fails is repeated, since nothing else would correct it.
   * @returns the servers of the connector
   */
  #noteChange(id: string) {
    const noted = this.#noting.then(() => this.#noteNow(id));
    this.#noting = noted.catch(() => {});
    return noted;
  }

  async #noteNow(id: string) {
    for (let tries = 1; ; tries += 1) {
      try {
        await notePresence(this.env.DB, id, this.#machine() !== undefined, Date.now());
        return await listConnectorServers(this.env.DB, id);
      } catch (thrown) {
        if (tries === NOTE.tries) throw thrown;
        await scheduler.wait(NOTE.pauseMs * tries);
      }
    }
  }

  /** The machine has announced these servers. */
  async #follow(announced: readonly Announced[]): Promise<void> {
    const names = new Set(announced.map(({ server }) => server));
    const servers = await listConnectorServers(this.env.DB, announced[0]?.id ?? '');
    await this.#wakeMonitors(servers.filter(({ server }) => names.has(server)));
  }

  /** Makes the monitors of these servers check them now, whatever their last status. */
  async #wakeMonitors(servers: readonly { id: string }[]): Promise<void> {
    const monitors = this.env.SERVER_MONITOR;
    await Promise.allSettled(servers.map(({ id }) => monitors.getByName(id).follow(id)));
  }

  /** The connected machine, if it has said hello. */
  #machine(): WebSocket | undefined {
    return this.ctx.getWebSockets(MACHINE).find(socket => {
      const { isGreeted } = socket.deserializeAttachment() as Machine;
      return isGreeted && isOpen(socket);
    });
  }

  #toMachine(bytes: Uint8Array): void {
    this.#machine()?.send(bytes);
  }

  /** Disconnects the machine and ends its calls. */
  #dismiss(reason: 'replaced' | 'revoked'): void {
    const [first, ...rest] = this.ctx.getWebSockets(MACHINE).filter(isOpen);
    if (!first) return;
    for (const socket of [first, ...rest]) end(socket, reason);
    this.#endCalls(`Its connector was ${reason}`);
  }

  #endCalls(why: string): void {
    for (const call of this.ctx.getWebSockets(CALL).filter(isOpen)) endCall(call, 'failed', why);
  }

  /** Draws a channel at random, so that no counter has to be stored. */
  #freeChannel(): number {
    for (;;) {
      const [channel = 0] = crypto.getRandomValues(new Uint32Array(1));
      if (channel !== 0 && this.ctx.getWebSockets(tagOf(channel)).length === 0) return channel;
    }
  }
}

/** Sends a closing message to a machine and closes its socket. */
function end(socket: WebSocket, reason: keyof typeof CLOSED & Payload<'bye'>['reason']): void {
  socket.send(toJsonFrame('bye', 0, { reason }));
  socket.close(CLOSED[reason], reason);
}

function endCall(call: WebSocket, code: Payload<'reset'>['code'], message: string): void {
  call.serializeAttachment({ kind: 'ended' } satisfies Attachment);
  call.send(toJsonFrame('reset', 0, { code, message }));
  call.close(CLOSED.done);
}
