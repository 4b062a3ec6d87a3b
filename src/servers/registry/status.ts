/**
 * The statuses of a server and the legal steps between them. Pure; the table's trigger and the condition of every write enforce the same
 * steps.
 */
import { z } from 'zod';

export const ServerStatusSchema = z.enum([
  'CONNECTING',
  'CONNECTED',
  'DEGRADED',
  'DISCONNECTED',
  'ERROR',
]);
export type ServerStatus = z.infer<typeof ServerStatusSchema>;

const NEXT: Readonly<Record<ServerStatus, readonly ServerStatus[]>> = {
  CONNECTING: ['CONNECTED', 'DEGRADED', 'ERROR', 'DISCONNECTED'],
  CONNECTED: ['CONNECTING', 'DEGRADED', 'ERROR', 'DISCONNECTED'],
  DEGRADED: ['CONNECTING', 'CONNECTED', 'ERROR', 'DISCONNECTED'],
  ERROR: ['CONNECTING', 'CONNECTED', 'DEGRADED', 'DISCONNECTED'],
  DISCONNECTED: ['CONNECTING'],
};

/** Whether a server may go from one status to another; staying is legal. */
export function isLegalStep(from: ServerStatus, to: ServerStatus): boolean {
  return from === to || NEXT[from].includes(to);
}

/** Whether a server in this status offers its catalog: not before its first check, and not after it was disconnected. */
export function isOffered(status: ServerStatus): boolean {
  return status !== 'DISCONNECTED' && status !== 'CONNECTING';
}

/** Statuses from which `connect` starts again; in the others the server is connected or connecting. */
export const CONNECTABLE: readonly ServerStatus[] = ['DISCONNECTED', 'ERROR'];
/** Statuses from which `disconnect` takes a server down. */
export const DISCONNECTABLE: readonly ServerStatus[] = ServerStatusSchema.options.filter(
  status => status !== 'DISCONNECTED',
);
