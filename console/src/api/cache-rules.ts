/** Rules of the result cache. */
import type {
  CacheRule,
  CacheRulePage,
  CreateCacheRule,
  UpdateCacheRule,
} from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';

export const CACHE_RULES = ['cache-rules'];
const PATH = 'cache/rules';
const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

export const cacheRulesQuery = () => paged<CacheRulePage>(CACHE_RULES, PATH);

/** Reads the current state of a rule. */
export const readCacheRule = (id: string) => request<CacheRule>(pathOf(id));

export const createCacheRule = (body: CreateCacheRule) =>
  request<CacheRule>(PATH, { method: 'POST', body });

/** Edits a rule. @throws ApiProblem 412 where it has another revision */
export const updateCacheRule = (id: string, body: UpdateCacheRule, revision: number) =>
  request<CacheRule>(pathOf(id), { method: 'PATCH', body, revision });

export const deleteCacheRule = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });
