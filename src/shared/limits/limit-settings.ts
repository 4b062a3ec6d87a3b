/** The deployment's limits on concurrent use: bytes in flight and open streams, for each principal and each isolate, and sessions. */
import { z } from 'zod';

/** Most event streams open at once: in an isolate, and of one principal in it. */
export interface StreamLimits {
  readonly isolateStreams: number;
  readonly principalStreams: number;
}

/** Limits on bytes in memory. */
export interface ByteLimits {
  /** Bytes of all requests in an isolate. */
  readonly isolateBytes: number;
  /** Bytes of one principal's requests in an isolate. */
  readonly principalBytes: number;
  /** How long a response waits for room, in milliseconds. */
  readonly waitMs: number;
  /** The connection of a client that reads nothing of a large response for this long is closed, in milliseconds. */
  readonly stalledMs: number;
}

const MIB = 1_048_576;
/** A Worker has 128 MiB in all; a machine has more. */
const DEFAULT_BYTES = { production: 64 * MIB, local: 256 * MIB };

const bytes = z.coerce
  .number()
  .int()
  .min(MIB)
  .max(2 ** 34);
const streams = z.coerce.number().int().min(1).max(1_000_000);
const milliseconds = z.coerce.number().int().min(1).max(86_400_000);

/** The members of the settings schema. */
export const LIMIT_SETTINGS = {
  PORTICO_BYTES_IN_FLIGHT: bytes.optional(),
  PORTICO_PRINCIPAL_BYTES_IN_FLIGHT: bytes.optional(),
  PORTICO_ROOM_WAIT_MS: milliseconds.default(10_000),
  PORTICO_STALLED_READER_MS: milliseconds.default(30_000),
  PORTICO_STREAMS: streams.default(1_000),
  PORTICO_PRINCIPAL_STREAMS: streams.default(100),
  PORTICO_PRINCIPAL_SESSIONS: streams.default(1_000),
};
const SettingsSchema = z.object(LIMIT_SETTINGS);

export const toStreamLimits = (settings: z.infer<typeof SettingsSchema>): StreamLimits => ({
  isolateStreams: settings.PORTICO_STREAMS,
  principalStreams: settings.PORTICO_PRINCIPAL_STREAMS,
});

/** @param isLocal the gateway runs on a machine, not on Cloudflare */
export function toByteLimits(
  settings: z.infer<typeof SettingsSchema>,
  isLocal: boolean,
): ByteLimits {
  const isolateBytes =
    settings.PORTICO_BYTES_IN_FLIGHT ?? DEFAULT_BYTES[isLocal ? 'local' : 'production'];
  const wanted = settings.PORTICO_PRINCIPAL_BYTES_IN_FLIGHT ?? (isolateBytes * 3) / 4;
  return {
    isolateBytes,
    principalBytes: Math.min(isolateBytes, Math.floor(wanted)),
    waitMs: settings.PORTICO_ROOM_WAIT_MS,
    stalledMs: settings.PORTICO_STALLED_READER_MS,
  };
}
