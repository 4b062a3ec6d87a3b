/** The allow-list of ask. */
import type {
  AskAllowlistEntry,
  AskAllowlistPage,
  CreateAskAllowlistEntry,
} from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';

export const ALLOWLIST = ['ask-allowlist'];
const PATH = 'ask/allowlist';

export const allowlistQuery = () => paged<AskAllowlistPage>(ALLOWLIST, PATH);

export const createEntry = (body: CreateAskAllowlistEntry) =>
  request<AskAllowlistEntry>(PATH, { method: 'POST', body });

export const deleteEntry = (id: string) =>
  request<undefined>(`${PATH}/${encodeURIComponent(id)}`, { method: 'DELETE' });
