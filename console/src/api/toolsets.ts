/** Toolsets, and what saving one would change. */
import type {
  CreateToolset,
  PreviewToolset,
  Toolset,
  ToolsetPage,
  ToolsetPreview,
  UpdateToolset,
} from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';
import { liveMs } from './live.ts';

/** Those with this in their name, page by page. */
export const toolsetListQuery = (name: string) =>
  paged<ToolsetPage>(['toolsets', 'list', name], 'toolsets', { query: { name }, every: liveMs });

const pathOf = (id: string) => `toolsets/${encodeURIComponent(id)}`;
const ONE = ['toolsets', 'one'] as const;

/** @returns the key of one toolset among what was answered */
export const keyOf = (id: string) => [...ONE, id] as const;

export const toolsetQuery = (id: string) => ({
  queryKey: keyOf(id),
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Toolset>(pathOf(id), { signal }),
});

/** Read a toolset as it is now. */
export const readToolset = (id: string) => request<Toolset>(pathOf(id));

export const createToolset = (body: CreateToolset) =>
  request<Toolset>('toolsets', { method: 'POST', body });

/** Edit one. @throws ApiProblem 412 where it has another revision */
export const updateToolset = (id: string, body: UpdateToolset, revision: number) =>
  request<Toolset>(pathOf(id), { method: 'PATCH', body, revision });

export const deleteToolset = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** What it would gain and lose, and who. Nothing is written. */
export const previewToolset = (body: PreviewToolset) =>
  request<ToolsetPreview>('toolsets/preview', { method: 'POST', body });
