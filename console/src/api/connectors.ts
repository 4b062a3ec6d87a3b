/** Connectors: machines that offer stdio servers. A connector's token is only in the response that created it. */
import type { Connector, ConnectorPage } from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';
import { LIVE_MS } from './live.ts';

export const CONNECTORS = ['connectors'];

export interface Enrolled {
  connector: Connector;
  token: string;
}

export const connectorsQuery = () =>
  paged<ConnectorPage>(CONNECTORS, 'connectors', { every: LIVE_MS });

export const enrolConnector = (name: string) =>
  request<Enrolled>('connectors', { method: 'POST', body: { name } });

/** Gives a connector a new token; a machine with the former one is disconnected. */
export const rotateConnector = (id: string) =>
  request<Enrolled>(`connectors/${encodeURIComponent(id)}/rotate`, { method: 'POST' });

export const revokeConnector = (id: string) =>
  request<undefined>(`connectors/${encodeURIComponent(id)}`, { method: 'DELETE' });
