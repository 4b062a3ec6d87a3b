/**
 * `/docs`: a browsable API description, rendered with our own static files. The page asks for a token, since `/openapi.json` requires one.
 */
import { answerPage, readPageFile, type PagePorts } from '../http/page-files.ts';

const FILES = new Set([
  'index.html',
  'docs.css',
  'docs.mjs',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
]);

/** Whether a path belongs to the page or its files. */
export const isDocsPath = (path: string): boolean => path === '/docs' || path.startsWith('/docs/');

/** Serves the page or one of its files. */
export function handleDocs(request: Request, url: URL, ports: PagePorts): Promise<Response> {
  const name = url.pathname.slice('/docs/'.length) || 'index.html';
  return answerPage(request, url, ports, ['GET', 'HEAD'], () =>
    readPageFile(ports.asset, '/docs', FILES, name, { formAction: 'none' }),
  );
}
