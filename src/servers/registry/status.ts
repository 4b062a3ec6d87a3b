/**
 * The states of a server and the legal ways between them. Pure; the table's trigger and the conditions of every write
 * enforce the same.
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

/** Whether a server may go from one status to another; to stay is legal. */
export function isLegalStep(from: ServerStatus, to: ServerStatus): boolean {
  return from === to || NEXT[from].includes(to);
}

/** Whether a server in this status offers its catalog: not before it was looked at, not once it was taken down. */
export function isOffered(status: ServerStatus): boolean {
  return status !== 'DISCONNECTED' && status !== 'CONNECTING';
}

/** From where `connect` begins anew; elsewhere the server is there or on its way. */
export const CONNECTABLE: readonly ServerStatus[] = ['DISCONNECTED', 'ERROR'];
/** From where `disconnect` takes a server down. */
export const DISCONNECTABLE: readonly ServerStatus[] = ServerStatusSchema.options.filter(
  status => status !== 'DISCONNECTED',
);
