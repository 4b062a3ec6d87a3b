/**
 * Checks JSON bodies of the API against the limits of all bodies, and counts what they take once parsed, before a route's schema walks them.
 * Bodies with another content type are left to the route, which refuses them.
 */
import type { MiddlewareHandler } from 'hono';
import type { Config } from '../config.ts';
import { checkBody, toText, WEIGHT_FACTOR } from '../http/json-body.ts';
import type { ApiEnv } from './frame.ts';

/** @throws PorticoError `parse_error`, `unsupported_media_type`, `payload_too_large`, `busy` */
export function boundedJson({
  json,
  maxBodyBytes,
}: Pick<Config, 'json' | 'maxBodyBytes'>): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const type = (context.req.header('content-type') ?? '').toLowerCase();
    if (context.req.raw.body && type.includes('json')) {
      // The framework caches the bytes for the route.
      const text = toText(await context.req.arrayBuffer(), context.req.raw.headers);
      checkBody(text, json);
      context.var.bytes.takeParsed(text, WEIGHT_FACTOR * maxBodyBytes);
    }
    await next();
  };
}
