/** Access rules, and a preview of what saving one would change. */
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

/** Rules per page. */
const PAGE = 50;

export type SubjectKind = AccessRule['subject']['kind'];

/** Lists the rules for one kind of subject, page by page. */
export const rulesQuery = (kind: SubjectKind) =>
  paged<AccessRulePage>(['rules', 'list', kind], 'access/rules', {
    query: { limit: PAGE, subject_kind: kind },
    every: liveMs,
  });

const pathOf = (id: string) => `access/rules/${encodeURIComponent(id)}`;

/** Reads the current state of a rule. */
export const readRule = (id: string) => request<AccessRule>(pathOf(id));

export const createRule = (body: CreateAccessRule) =>
  request<AccessRule>('access/rules', { method: 'POST', body });

/** Edits a rule. @throws ApiProblem 412 where it has another revision */
export const updateRule = (id: string, body: CreateAccessRule, revision: number) =>
  request<AccessRule>(pathOf(id), { method: 'PATCH', body, revision });

export const deleteRule = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** Asks who would gain and lose access to what. Nothing is written. */
export const previewRule = (body: PreviewAccessRule) =>
  request<AccessPreview>('access/rules/preview', { method: 'POST', body });
