/** The REST API: its frame. Credential, error projection and OpenAPI for every route under it. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import { parseBearer } from '../access/token.ts';
import { PorticoError, toPorticoError } from '../errors/portico-error.ts';
import { toProblemResponse } from '../errors/to-problem.ts';
import { checkOrigin } from '../http/origin.ts';
import { IMPLEMENTATION } from '../protocol.ts';
import type { Api, ApiEnv, ApiPorts } from './frame.ts';
import { registerServers } from './servers.ts';
import { registerTokens } from './tokens.ts';
import { registerTools } from './tools.ts';

/** Build the API. */
export function createApi(ports: ApiPorts): Api {
  const api: Api = new OpenAPIHono<ApiEnv>({
    defaultHook: result => {
      if (result.success) return undefined;
      const fields = result.error.issues.map(({ path, message }) => ({
        field: path.join('.') || '(body)',
        message,
      }));
      const first = fields[0];
      throw new PorticoError('validation_failed', `${first?.field}: ${first?.message}`, { fields });
    },
  });
  api.onError(error => toProblemResponse(fromFramework(error)));
  api.notFound(() => toProblemResponse(new PorticoError('not_found', 'No such route')));
  api.use(
    bodyLimit({
      maxSize: ports.config.maxBodyBytes,
      onError: () => toProblemResponse(new PorticoError('payload_too_large')),
    }),
  );
  api.use(async (context, next) => {
    const { req, executionCtx } = context;
    checkOrigin(new URL(req.url), req.header('origin') ?? null, ports.config);
    const token = parseBearer(req.header('authorization') ?? null);
    const snapshot =
      token === undefined
        ? undefined
        : await ports.snapshots.load(token, undefined, work => executionCtx.waitUntil(work));
    if (!snapshot) throw new PorticoError('unauthorized');
    context.set('snapshot', snapshot);
    await next();
  });
  api.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
  });
  registerServers(api, ports);
  registerTokens(api, ports);
  registerTools(api, ports);
  api.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: { title: 'Portico', version: IMPLEMENTATION.version },
    security: [{ bearer: [] }],
  });
  return api;
}

/** The framework throws errors of its own with a status; a broken body is the one that occurs. */
function fromFramework(error: Error): PorticoError {
  const status = (error as { status?: unknown }).status;
  if (status === 400) return new PorticoError('parse_error');
  return toPorticoError(error);
}
