/**
 * Checks JSON bodies of the API against the limits of all bodies, before a route's schema walks them. Bodies with another content type are
 * left to the route, which refuses them.
 */
import type { MiddlewareHandler } from 'hono';
import type { Config } from '../config.ts';
import { checkBody, toText } from '../http/json-body.ts';
import type { ApiEnv } from './frame.ts';

/** @throws PorticoError `parse_error`, `unsupported_media_type`, `payload_too_large` */
export function boundedJson({ json }: Pick<Config, 'json'>): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const type = (context.req.header('content-type') ?? '').toLowerCase();
    // The framework caches the bytes for the route.
    if (context.req.raw.body && type.includes('json'))
      checkBody(toText(await context.req.arrayBuffer(), context.req.raw.headers), json);
    await next();
  };
}
