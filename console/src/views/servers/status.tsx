/** The status of a server in words. */
import type { Status } from '../../api/servers.ts';

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  CONNECTED: 'connected',
  DEGRADED: 'degraded',
  ERROR: 'error',
  CONNECTING: 'connecting',
  DISCONNECTED: 'disconnected',
};

const KIND: Readonly<Partial<Record<Status, string>>> = { CONNECTED: 'good', ERROR: 'bad' };

export const StatusBadge = ({ status }: { status: Status }) => (
  <span class={`badge ${KIND[status] ?? ''}`}>{STATUS_WORDS[status]}</span>
);
