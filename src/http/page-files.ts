/**
 * Pages for people, made of our own files only: their headers, and the files themselves. A page holds no secret. A path
 * that is not one of the page's files is refused.
 */
import { checkOrigin, type OriginPolicy } from './entry-checks.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';

export type FindAsset = (path: string) => Promise<Response>;

export interface PagePorts {
  config: OriginPolicy;
  asset: FindAsset;
}

/** What a page may do beyond the base policy: nothing inline, no frame, nothing of another origin. */
export interface PagePolicy {
  formAction: 'none' | 'self';
  /** A scheme to which a form may redirect, as the policy writes it. */
  leadsTo?: string | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Returns the headers of a page or one of its files. */
export function pageHeaders(extension: string, { formAction, leadsTo }: PagePolicy): Headers {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `form-action '${formAction}'${leadsTo === undefined ? '' : ` ${leadsTo}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return new Headers({
    'content-type': TYPES[extension] ?? 'application/octet-stream',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'public, max-age=300',
  });
}

/** Responds for a page; an error becomes a problem document, and a 405 lists the allowed methods. */
export async function answerPage(
  request: Request,
  url: URL,
  { config }: Pick<PagePorts, 'config'>,
  methods: readonly string[],
  answer: () => Promise<Response>,
): Promise<Response> {
  try {
    checkOrigin(url, request.headers.get('origin'), config);
    if (!methods.includes(request.method)) throw new PorticoError('method_not_allowed');
    const response = await answer();
    return request.method === 'HEAD' ? new Response(null, response) : response;
  } catch (thrown) {
    const response = toProblemResponse(toPorticoError(thrown));
    if (response.status === 405) response.headers.set('allow', methods.join(', '));
    return response;
  }
}

/**
 * Returns a file of a page.
 * @param names the files of the page
 * @throws PorticoError `not_found`
 */
export async function readPageFile(
  asset: FindAsset,
  folder: string,
  names: ReadonlySet<string>,
  name: string,
  policy: PagePolicy,
): Promise<Response> {
  const found = names.has(name) ? await asset(`${folder}/${name}`) : undefined;
  if (found?.status !== 200) throw new PorticoError('not_found');
  return new Response(found.body, { headers: pageHeaders(name.split('.').at(-1) ?? '', policy) });
}
