/** Exports the servers of the registry as a file that can be imported, here or at another gateway. */
import type { Export } from '../generated/types.gen.ts';
import { request } from './request.ts';

export type RegistryExport = Extract<Export, { format: 'registry' }>;

export const exportRegistry = () =>
  request<RegistryExport>('aggregator/export', { query: { format: 'registry' } });
