/** Access rules, and what saving one would change. */
import type {
  AccessPreview,
  AccessRule,
  AccessRulePage,
  CreateAccessRule,
  PreviewAccessRule,
} from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';
import { liveMs } from './live.ts';

/** Rules of one page of the list. */
const PAGE = 50;

export type SubjectKind = AccessRule['subject']['kind'];

/** Those for one kind of subject, page by page. */
export const rulesQuery = (kind: SubjectKind) =>
  paged<AccessRulePage>(['rules', 'list', kind], 'access/rules', {
    query: { limit: PAGE, subject_kind: kind },
    every: liveMs,
  });

const pathOf = (id: string) => `access/rules/${encodeURIComponent(id)}`;

/** Read a rule as it is now. */
export const readRule = (id: string) => request<AccessRule>(pathOf(id));

export const createRule = (body: CreateAccessRule) =>
  request<AccessRule>('access/rules', { method: 'POST', body });

/** Edit one. @throws ApiProblem 412 where it has another revision */
export const updateRule = (id: string, body: CreateAccessRule, revision: number) =>
  request<AccessRule>(pathOf(id), { method: 'PATCH', body, revision });

export const deleteRule = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** Who would gain and lose what. Nothing is written. */
export const previewRule = (body: PreviewAccessRule) =>
  request<AccessPreview>('access/rules/preview', { method: 'POST', body });
