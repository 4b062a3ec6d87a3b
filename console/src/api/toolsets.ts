/** Toolsets, and a preview of what saving one would change. */
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

/** Lists the toolsets whose name contains this text, page by page. */
export const toolsetListQuery = (name: string) =>
  paged<ToolsetPage>(['toolsets', 'list', name], 'toolsets', { query: { name }, every: liveMs });

const pathOf = (id: string) => `toolsets/${encodeURIComponent(id)}`;
const ONE = ['toolsets', 'one'] as const;

/** @returns the query key of one toolset */
export const keyOf = (id: string) => [...ONE, id] as const;

export const toolsetQuery = (id: string) => ({
  queryKey: keyOf(id),
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Toolset>(pathOf(id), { signal }),
});

/** Reads the current state of a toolset. */
export const readToolset = (id: string) => request<Toolset>(pathOf(id));

export const createToolset = (body: CreateToolset) =>
  request<Toolset>('toolsets', { method: 'POST', body });

/** Edits a toolset. @throws ApiProblem 412 where it has another revision */
export const updateToolset = (id: string, body: UpdateToolset, revision: number) =>
  request<Toolset>(pathOf(id), { method: 'PATCH', body, revision });

export const deleteToolset = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** Asks which tools the toolset, and which people, would gain and lose. Nothing is written. */
export const previewToolset = (body: PreviewToolset) =>
  request<ToolsetPreview>('toolsets/preview', { method: 'POST', body });
