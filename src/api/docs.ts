/**
 * `/docs`: the API's description to browse. A page and a renderer from our own files, and nothing from anywhere else; the page holds no secret and
 * asks for a token, since `/openapi.json` is behind one. Refuses whatever is not one of its files.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { checkOrigin, type OriginPolicy } from '../http/origin.ts';

/** Finds a file of the deployment by its path. */
export type FindAsset = (path: string) => Promise<Response>;

export interface DocsPorts {
  config: OriginPolicy;
  asset: FindAsset;
}

const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'docs.css': 'text/css; charset=utf-8',
  'docs.mjs': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

/** Scripts and styles of this origin only; images of the renderer are in its styles as data. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Whether a path belongs to the page. */
export const isDocsPath = (path: string): boolean => path === '/docs' || path.startsWith('/docs/');

/** Answer a request for the page or one of its files. */
export async function handleDocs(
  request: Request,
  url: URL,
  { config, asset }: DocsPorts,
): Promise<Response> {
  try {
    checkOrigin(url, request.headers.get('origin'), config);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new PorticoError('method_not_allowed');
    }
    const name = url.pathname.slice('/docs/'.length) || 'index.html';
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    const found = type === undefined ? undefined : await asset(`/docs/${name}`);
    if (type === undefined || found?.status !== 200) throw new PorticoError('not_found');
    return new Response(request.method === 'HEAD' ? null : found.body, {
      headers: {
        'content-type': type,
        'content-security-policy': POLICY,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'public, max-age=300',
      },
    });
  } catch (error) {
    if (!(error instanceof PorticoError)) throw error;
    const response = toProblemResponse(error);
    if (response.status === 405) response.headers.set('allow', 'GET, HEAD');
    return response;
  }
}
