/**
 * The API and its OpenAPI document for unit tests, without stores, since neither needs one. The API is imported by its path because the
 * types of the Worker's runtime and those of Node do not fit into one program.
 */
import { BytesInFlight } from '../../../src/shared/limits/bytes-in-flight.ts';

/** The part of the API that these tests use. */
export interface Api {
  routes: { method: string; path: string }[];
  request(url: string, init: RequestInit, env: object, context: object): Promise<Response>;
}

export interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: { bearer?: string[] }[];
  parameters?: { name: string; in: string; required?: boolean; description?: string }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, OpenApiResponse>;
}

export interface OpenApiResponse {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}

interface Media {
  schema?: Record<string, unknown>;
  example?: unknown;
}

export interface OpenApi {
  openapi: string;
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

const config = { maxBodyBytes: 1_000_000, mode: 'production', allowedOrigins: [] };
const caller = {
  principalId: 'p',
  tokenId: 't',
  scopes: new Set(['admin']),
  audience: null,
};
const snapshots = { load: () => Promise.resolve({ caller, servers: [] }) };
const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };

/** The API without stores. */
export async function createEmptyApi(): Promise<Api> {
  const path = new URL('../../../src/api/api.ts', import.meta.url).href;
  const { createApi } = (await import(path)) as { createApi(ports: object): Api };
  const limits = { isolateBytes: 2 ** 26, principalBytes: 2 ** 26, waitMs: 1, stalledMs: 60_000 };
  return createApi({ config, snapshots, bytes: new BytesInFlight(limits) });
}

/** The document as a client receives it. */
export async function loadDocument(api: Api): Promise<OpenApi> {
  const url = 'https://portico.example.com/openapi.json';
  const headers = { authorization: `Bearer portico_${'a'.repeat(43)}` };
  const response = await api.request(url, { headers }, {}, context);
  return (await response.json()) as OpenApi;
}

/** Every operation with its method and path. */
export const operationsOf = ({ paths }: OpenApi): [string, Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
