/** What every API route file shares: its ports, its frame type and the form of its responses. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { z } from 'zod';
import type { Snapshot, Snapshots } from '../access/snapshots.ts';
import type { TokenService } from '../access/token-service.ts';
import type { Config } from '../env.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ServerService } from '../registry/server-service.ts';

export interface ApiPorts {
  config: Config;
  snapshots: Snapshots;
  gateway: Gateway;
  servers: ServerService;
  tokens: TokenService;
}

export interface ApiEnv {
  Variables: { snapshot: Snapshot };
}

export type Api = OpenAPIHono<ApiEnv>;

/** What a problem looks like in the OpenAPI document. */
export const ProblemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });

/** Responses of an OpenAPI route: the good one and problems. */
export function responsesOf(status: number, description: string, schema?: z.ZodType) {
  const problem = { 'application/problem+json': { schema: ProblemSchema } };
  return {
    [status]: { description, ...(schema ? { content: { 'application/json': { schema } } } : {}) },
    default: { description: 'A problem, told by its code', content: problem },
  };
}
