/**
 * All channels of one connection: passes each frame of the gateway to its channel. Refuses frames that break the protocol, and limits open
 * channels and buffered bytes. Frames for a channel that has ended are late, and are dropped.
 */
import { parsePayload, toJsonFrame } from '../../../src/upstream/connector/frames.ts';
import type { Frame, Payload } from '../../../src/upstream/connector/frames.ts';
import { Channel } from './channel.ts';
import type { OutboundFetch } from './outbound-fetch.ts';
import type { HttpAdapter } from './stdio-http.ts';

/** Most open channels. */
const MAX_CHANNELS = 10_000;
/** Most bytes of incomplete requests, over all channels. */
const MAX_REQUESTS_BYTES = 128 * 1024 * 1024;

export interface Channels {
  /** Takes a frame of a channel. @returns false where the gateway broke the protocol */
  take(frame: Frame): boolean;
  /** Refuses new channels and ends notification streams. Resolves when all channels have ended. */
  drain(): Promise<void>;
  /** Ends all channels at once, without frames. */
  close(): void;
  readonly size: number;
}

/** @param adapters by the server names sent in `hello` */
export function createChannels(
  adapters: ReadonlyMap<string, HttpAdapter>,
  outboundFetch: OutboundFetch,
): Channels {
  const open = new Map<number, Channel>();
  let isDraining = false;
  let waitingBytes = 0;
  let whenEmpty = () => {};

  const refuse = (id: number, code: Payload<'reset'>['code'], message: string) =>
    outboundFetch.send(toJsonFrame('reset', id, { code, message }));

  const start = (id: number, payload: Uint8Array): boolean => {
    const request = parsePayload('open', payload);
    if (!request || id === 0 || open.has(id)) return false;
    const adapter = adapters.get(request.server);
    if (isDraining) refuse(id, 'offline', 'the connector is stopping');
    else if (!adapter) refuse(id, 'unknown_server', 'the connector has no server of this name');
    else if (open.size >= MAX_CHANNELS)
      refuse(id, 'failed', `${MAX_CHANNELS} requests are already running`);
    else {
      const onEnd = () => {
        open.delete(id);
        if (open.size === 0) whenEmpty();
      };
      open.set(id, new Channel({ id, open: request, adapter, outboundFetch, onEnd }));
    }
    return true;
  };

  /** Runs an action on a channel, and updates the count of buffered bytes. */
  const counted = <T>(channel: Channel, act: () => T): T => {
    const before = channel.requestBytes;
    const result = act();
    waitingBytes += channel.requestBytes - before;
    return result;
  };

  const add = (channel: Channel, payload: Uint8Array): boolean => {
    if (waitingBytes + payload.length <= MAX_REQUESTS_BYTES) return channel.data(payload);
    channel.reset('too_large', 'too many bytes of other requests are waiting');
    return true;
  };

  return {
    get size() {
      return open.size;
    },
    take({ type, channel: id, payload }) {
      if (type === 'open') return start(id, payload);
      const channel = open.get(id);
      const flowControl = type === 'credit' ? parsePayload('credit', payload) : undefined;
      if (type === 'credit' && !flowControl) return false;
      if (!channel) return ['data', 'end', 'reset', 'credit'].includes(type);
      switch (type) {
        case 'data':
          return counted(channel, () => add(channel, payload));
        case 'end':
          return counted(channel, () => channel.end());
        case 'reset':
          counted(channel, () => channel.close());
          return true;
        case 'credit':
          channel.give(flowControl?.bytes ?? 0);
          return true;
        default:
          return false;
      }
    },
    async drain() {
      isDraining = true;
      for (const channel of open.values()) {
        if (channel.isStanding) counted(channel, () => channel.finish());
      }
      if (open.size > 0) await new Promise<void>(resolve => (whenEmpty = resolve));
    },
    close() {
      for (const channel of open.values()) counted(channel, () => channel.close());
    },
  };
}
